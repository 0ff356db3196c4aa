// The user's marks as the address has them: FROM-TO:TEXT;FROM-TO:TEXT.

export interface Mark {
  from: number;
  to: number;
  text: string;
}

const encoded = (text: string): string => text.replace(/[%;]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
const decoded = (text: string): string =>
  text.replace(/%(25|3b)/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

export const marksText = (marks: readonly Mark[]): string =>
  marks.map((mark) => `${Math.round(mark.from)}-${Math.round(mark.to)}:${encoded(mark.text)}`).join(";");

export function parseMarks(text: string): Mark[] {
  return text.split(";").flatMap((part) => {
    const fields = /^(-?\d{1,16})-(-?\d{1,16})(?::([^]*))?$/.exec(part);
    if (fields === null) return [];
    const [from, to] = [Number(fields[1]), Number(fields[2])];
    return to < from ? [] : [{ from, to, text: decoded(fields[3] ?? "") }];
  });
}
