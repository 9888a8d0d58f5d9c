/** Builds the real AWS provider of Cluster API, for the ring `npm run test:machines`, where its test is skipped without it. */
import { ensureCapa } from './harness/capa-binary.ts';

process.stdout.write(`${ensureCapa().manager}\n`);
