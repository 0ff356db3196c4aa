// What each key does in the timeline, by its place on the keyboard, so that it is the same on other layouts. The frame has
// `/` and `?`.

export type Action =
  | { do: "zoom"; factor: number }
  | { do: "pan"; windows: number }
  | { do: "whole" | "fit" | "mark" | "pin" | "clear" | "cause" | "effect" | "previous" | "next" }
  | { do: "scroll"; rows: number }
  | { do: "step"; number: number };

export interface Pressed {
  code: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

const simple: Record<string, Action> = {
  Digit0: { do: "whole" },
  Numpad0: { do: "whole" },
  KeyF: { do: "fit" },
  KeyM: { do: "mark" },
  KeyP: { do: "pin" },
  Escape: { do: "clear" },
  BracketLeft: { do: "cause" },
  BracketRight: { do: "effect" },
  Comma: { do: "previous" },
  Period: { do: "next" },
};

export function actionOf(event: Pressed): Action | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const times = event.shiftKey ? 5 : 1;
  switch (event.code) {
    case "KeyW":
      return { do: "zoom", factor: 0.75 ** times };
    case "KeyS":
      return { do: "zoom", factor: 0.75 ** -times };
    case "KeyA":
    case "ArrowLeft":
      return { do: "pan", windows: -0.1 * times };
    case "KeyD":
    case "ArrowRight":
      return { do: "pan", windows: 0.1 * times };
    case "ArrowUp":
      return { do: "scroll", rows: -3 * times };
    case "ArrowDown":
      return { do: "scroll", rows: 3 * times };
  }
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  if (digit !== null && !event.shiftKey) return { do: "step", number: Number(digit[1]) };
  return event.shiftKey ? undefined : simple[event.code];
}
