/** Builds the peers of the aws ring ahead of its first run: `npm run aws:peers`. */
import { buildOnce } from './build-once.ts';
import { KARPENTER } from './karpenter.ts';
import { MOTO } from './moto.ts';

const all = [MOTO, KARPENTER];
const wanted = process.argv.slice(2);
for (const peer of all) {
  if (wanted.length === 0 || wanted.some((name) => peer.name.startsWith(name))) await buildOnce(peer);
}
