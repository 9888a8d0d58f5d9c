import { table } from '../report/table.ts';
import type { Outcome, Phase } from './outcome.ts';

/** The outcomes as a table for the terminal, one line for each phase. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  return table(
    ['pods', 'autoscaler', 's', 'nodes', '$/h', 'bound', 'over', 'CPU s', 'peak MB', 'reads', 'writes', 'moved'],
    outcomes.flatMap(({ autoscaler, load, up, down }) => [
      line(load, autoscaler, up),
      ...(down === undefined ? [] : [line(`${load}, scaled to ${down.pods}`, autoscaler, down)]),
    ]),
  );
}

function line(load: string, autoscaler: string, phase: Phase): string[] {
  const over = (phase.usdPerHour / phase.lowerBound - 1) * 100;
  return [
    load,
    autoscaler,
    phase.seconds.toFixed(1),
    String(phase.nodes),
    phase.usdPerHour.toFixed(2),
    phase.lowerBound.toFixed(2),
    `+${over.toFixed(1)} %`,
    phase.cpuSeconds.toFixed(1),
    phase.peakRssMb.toFixed(0),
    String(phase.reads),
    String(phase.writes),
    String(phase.movedPods),
  ];
}
