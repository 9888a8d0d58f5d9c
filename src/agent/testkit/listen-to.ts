import type { NodeWarning, WarningSource } from '../node-warning.ts';

/** Runs a source and collects its reports. */
export function listenTo(source: WarningSource): {
  readonly reports: (readonly NodeWarning[])[];
  readonly last: () => readonly NodeWarning[];
  readonly end: () => Promise<void>;
} {
  const reports: (readonly NodeWarning[])[] = [];
  const stop = new AbortController();
  const run = source.run((warnings) => reports.push(warnings), stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await run;
  };
  return { reports, last: () => reports.at(-1) ?? [], end };
}
