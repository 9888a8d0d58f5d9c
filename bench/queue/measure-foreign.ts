/** A controller with a real control plane and the AWS ground, and a queue full of messages about machines of others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Autoscaler } from '../../test/aws/kubernetes/autoscaler.ts';
import { AwsCluster } from '../../test/aws/kubernetes/aws-cluster.ts';
import { KarpenterProcess } from '../../test/aws/kubernetes/karpenter-process.ts';
import { nodeClass, nodePool } from '../../test/aws/kubernetes/objects.ts';
import { SpindriftProcess } from '../../test/aws/kubernetes/spindrift-process.ts';
import { usageOf } from '../end-to-end/process-usage.ts';
import { type QueueServer, runScript } from './queue-server.ts';

export interface ForeignOutcome {
  readonly controller: Autoscaler['name'];
  readonly messages: number;
  readonly sentSeconds: number;
  /** From the last send until no message was left. */
  readonly goneSeconds: number;
  /** Of the controller, from the first send until no message was left. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

/** A controller that has nothing to do receives; before that its start is over. */
const START_MS = 25_000;
const POLL_MS = 100;
const LIMIT_MS = 300_000;

export async function measureForeign(
  server: QueueServer,
  controller: Autoscaler['name'],
  messages: number,
): Promise<ForeignOutcome> {
  const queue = `foreign-${controller}`;
  const url = await server.create(queue);
  const cluster = new AwsCluster('bench');
  const environment = { AWS_ENDPOINT_URL_SQS: server.endpoint, INTERRUPTION_QUEUE: queue };
  const autoscaler =
    controller === 'karpenter'
      ? new KarpenterProcess(cluster, { environment })
      : new SpindriftProcess(cluster, { environment });
  let passed = false;
  try {
    await cluster.start();
    await cluster.kubectl.apply(nodeClass(cluster.name));
    await cluster.kubectl.apply(nodePool({ name: 'default', capacityTypes: ['spot'] }));
    await autoscaler.start();
    await sleep(START_MS);
    if (autoscaler.failure !== undefined) throw autoscaler.failure;
    const pid = autoscaler.pid ?? 0;
    const before = usageOf(pid);
    const sent = JSON.parse(await runScript('send.ts', url, messages, 'foreign').line(0)) as {
      startedAt: number;
      endedAt: number;
    };
    while ((await server.left(url)) > 0) {
      if (Date.now() - sent.endedAt > LIMIT_MS) throw new Error(`${controller} has not emptied the queue`);
      await sleep(POLL_MS);
    }
    const goneAt = Date.now();
    const after = usageOf(pid);
    passed = true;
    return {
      controller,
      messages,
      sentSeconds: (sent.endedAt - sent.startedAt) / 1000,
      goneSeconds: (goneAt - sent.endedAt) / 1000,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      peakMb: after.peakRssMb,
    };
  } finally {
    await autoscaler.stop();
    await cluster.stop(passed);
  }
}
