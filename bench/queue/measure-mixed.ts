/** Mixed messages for a fleet of ours, sent and answered by processes of their own. */
import type { StormResult } from '../notices/notice-storm.ts';
import { type QueueServer, runScript } from './queue-server.ts';

export interface MixedOutcome {
  readonly messages: number;
  /** Machines of ours that something was said about; each had a pod. */
  readonly machines: number;
  readonly sentSeconds: number;
  /** From the last send until no message was left. */
  readonly goneSeconds: number;
  /** From the last send until the claims for all pods were written. */
  readonly replacedSeconds: number;
  readonly perSecond: number;
  /** Of the process that has the cluster in it as well, until every message was gone. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

/** Measures once, on a queue of its own: what a long poll of a former receiver was still given would be missing. */
export async function measureMixed(server: QueueServer, messages: number): Promise<MixedOutcome> {
  const url = await server.create(`mixed-${messages}`);
  const controller = runScript('answer.ts', url, messages);
  await controller.line(0);
  const sent = JSON.parse(await runScript('send.ts', url, messages).line(0)) as { startedAt: number; endedAt: number };
  const result = JSON.parse(await controller.line(1)) as StormResult & { machines: number };
  return {
    messages,
    machines: result.machines,
    sentSeconds: (sent.endedAt - sent.startedAt) / 1000,
    goneSeconds: (result.handledAt - sent.endedAt) / 1000,
    replacedSeconds: ((result.coveredAt ?? Number.NaN) - sent.endedAt) / 1000,
    perSecond: messages / ((result.handledAt - sent.startedAt) / 1000),
    cpuSeconds: result.handledCpu,
    peakMb: result.memoryPeak,
  };
}
