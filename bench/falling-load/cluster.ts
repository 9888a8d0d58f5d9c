/**
 * The cluster of the falling load, in a process of its own, so that only the autoscaler's work is measured where it is measured. Tells
 * its parent where it listens; takes half of the pods away when its parent says so, and tells when they are gone.
 */
import { once } from 'node:events';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { listen } from '../../src/embedded/apiserver/http/http-server.ts';
import { ClusterInformers } from '../../src/state/cluster-informers.ts';
import { LifeGoesOn } from '../fleet/life-goes-on.ts';
import { standingCluster } from '../fleet/standing-fleet.ts';

const machines = Number(process.argv[2]);
const podsPerNode = Number(process.argv[3]);
const { clock, random, server, client } = await standingCluster({
  seed: 'falling load',
  machines,
  types: ['large'],
  podsPerNode,
  podCpu: `${Math.floor(7800 / podsPerNode)}m`,
  disruption: { consolidateAfter: process.argv[4] ?? '', budgets: [{ nodes: '100%' }] },
});
const { url } = await listen({ server, port: 0 });
process.on('disconnect', () => process.exit());
process.send?.({ url });
await once(process, 'message');
for (let index = 0; index < machines; index++) {
  for (let pod = 0; pod < podsPerNode; pod += 2) {
    const key = { namespace: 'default', name: `pod-${index}-${pod}` };
    // Told to leave, and gone: there is no kubelet here.
    await client.delete(PODS, key);
    await client.delete(PODS, key, { gracePeriodSeconds: 0 });
  }
  // Those who watch are told meanwhile.
  if (index % 20 === 0) await clock.sleep(0);
}
const { signal } = new AbortController();
const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
const watching = informers.run(signal);
await informers.synced(signal);
process.send?.({ fallen: true });
await Promise.all([watching, new LifeGoesOn({ client, clock, informers, podsPerNode }).run(signal)]);
