/** Builds llmaz and LeaderWorkerSet for the models ring, and says where they are. */
import { ensureModelPeers } from './harness/model-peers.ts';

process.stdout.write(`${JSON.stringify(ensureModelPeers())}\n`);
