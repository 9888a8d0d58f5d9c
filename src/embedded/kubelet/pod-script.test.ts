import { describe, expect, it } from 'vitest';
import { aPod } from '../testkit/objects.ts';
import { commandScript, NO_DELAYS, podScript } from './pod-script.ts';

const FOREVER = Number.POSITIVE_INFINITY;

describe('a command', () => {
  it.each<[string[], number | undefined, number]>([
    [['sleep', '5'], 5000, 0],
    [['/bin/sleep', '1m'], 60_000, 0],
    [['sleep', 'infinity'], FOREVER, 0],
    [['true'], 0, 0],
    [['false'], 0, 1],
    [['sh', '-c', 'exit 3'], 0, 3],
    [['/bin/sh', '-c', 'echo hello; sleep 2 && sleep 1; exit 1'], 3000, 1],
    [['bash', '-ec', 'false'], 0, 1],
    [['nginx', '-g', 'daemon off;'], undefined, 0],
    [['sleep', 'soon'], undefined, 0],
    [[], undefined, 0],
  ])('%j runs for %s ms and ends with %s', (command, runForMs, exitCode) => {
    expect(commandScript({ command })).toEqual(runForMs === undefined ? undefined : { runForMs, exitCode });
  });
});

describe('a pod', () => {
  it('runs for ever when nothing says otherwise', () => {
    expect(podScript(aPod('p'), NO_DELAYS)).toMatchObject({
      containers: [{ runForMs: FOREVER, exitCode: 0 }],
      startMs: 0,
    });
  });

  it('does what its annotations say, whatever its command', () => {
    const annotations = {
      'spindrift.dev/run-for': '30s',
      'spindrift.dev/exit-code': '2',
      'spindrift.dev/start-after': '1s',
      'spindrift.dev/ready-after': '2s',
      'spindrift.dev/stop-after': '1m30s',
    };
    const pod = aPod('p', { annotations, spec: { containers: [{ name: 'c', command: ['sleep', '1'] }] } });
    expect(podScript(pod, NO_DELAYS)).toEqual({
      startMs: 1000,
      readyMs: 2000,
      stopMs: 90_000,
      containers: [{ runForMs: 30_000, exitCode: 2 }],
      initContainers: [],
    });
  });

  it('takes as long to stop as the longest of its pre-stop hooks, and its own time', () => {
    const sleeping = { name: 'a', lifecycle: { preStop: { sleep: { seconds: 20 } } } };
    const running = { name: 'b', lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', 'sleep 60'] } } } };
    const pod = aPod('p', { spec: { containers: [sleeping, running, { name: 'c' }] } });
    expect(podScript(pod, { ...NO_DELAYS, stopMs: 500 }).stopMs).toBe(60_500);
  });

  it('ends at once when only its exit code is told', () => {
    const pod = aPod('p', { annotations: { 'spindrift.dev/exit-code': '1' } });
    expect(podScript(pod, NO_DELAYS).containers).toEqual([{ runForMs: 0, exitCode: 1 }]);
  });
});
