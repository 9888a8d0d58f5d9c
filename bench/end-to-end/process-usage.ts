/** What a process has used so far, as the kernel counts it. Linux only, like the control plane it runs beside. */
import { readFileSync } from 'node:fs';

/** The kernel counts processor time in hundredths of a second, on every machine that Linux runs on today. */
const TICKS_PER_SECOND = 100;

export interface Usage {
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}

/** The usage of a process that runs. */
export function usageOf(pid: number): Usage {
  // The second field is the name in brackets, which may have spaces in it; the fields after it are plain.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks = 0, systemTicks = 0] = fields.slice(11, 13).map(Number);
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuSeconds: (userTicks + systemTicks) / TICKS_PER_SECOND, peakRssMb: Number(peak) / 1024 };
}
