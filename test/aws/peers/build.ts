/** Builds the peers of the aws ring ahead of its first run: `npm run aws:peers`. */
import { buildOnce } from '../../peers/build-once.ts';
import { KARPENTER } from './karpenter.ts';
import { MOTO } from './moto.ts';
import { NODEADM_PEER } from './nodeadm.ts';

const all = [MOTO, KARPENTER, NODEADM_PEER];
const wanted = process.argv.slice(2);
for (const peer of all) {
  if (wanted.length === 0 || wanted.some((name) => peer.name.startsWith(name))) await buildOnce(peer);
}
