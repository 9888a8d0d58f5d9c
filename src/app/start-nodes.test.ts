import { describe, expect, it } from 'vitest';
import { machineTypes } from '../cloud/simulated/catalogue.ts';
import { startNodes } from './start-nodes.ts';

const zones = (count: number): (string | undefined)[] =>
  startNodes(count).map(({ labels }) => labels?.['topology.kubernetes.io/zone']);

describe('the nodes of a new cluster', () => {
  it('are each in a zone of their own', () => {
    expect(zones(3)).toEqual(['sim-1a', 'sim-1b', 'sim-1c']);
    expect(zones(5)).toEqual(['sim-1a', 'sim-1b', 'sim-1c', 'sim-1d', 'sim-1a']);
  });

  it('are only where the cloud sells machines', () => {
    const sold = new Set(machineTypes().flatMap((machine) => machine.zones));
    expect(zones(20).filter((zone) => zone === undefined || !sold.has(zone))).toEqual([]);
  });
});
