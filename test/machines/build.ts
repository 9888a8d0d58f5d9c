/** Builds the real Cluster API core manager for the machines ring, and says where it is. */
import { ensureClusterApiCore } from './harness/cluster-api-binary.ts';

process.stdout.write(`${JSON.stringify(await ensureClusterApiCore())}\n`);
