// What the time of a device is made of, and why it was idle: one colour and one word for each, in all views.
export interface PartOfTime { kind: string; label: string }

export const COMPUTE: PartOfTime = { kind: "compute", label: "compute alone" };
export const HIDDEN: PartOfTime = { kind: "communication pale", label: "communication hidden behind compute" };
export const EXPOSED: PartOfTime = { kind: "communication", label: "communication exposed" };

// By the columns' names in device_idle_breakdown, without _ns.
export const CAUSES: Record<string, PartOfTime & { means: string }> = {
  host_wait: { kind: "host-gaps", label: "waits for the host", means: "the work was launched only after the devices had run dry" },
  kernel_wait: { kind: "runtime", label: "between kernels", means: "a short pause between work that was launched in time" },
  other: { kind: "other", label: "other", means: "launched in time, and yet nothing ran: an event, another process, a slow launch" },
  unknown: { kind: "unrecorded", label: "launch not recorded", means: "the launch is not in the trace" },
};
