/** After all user objects were deleted, nothing of Spindrift is left. */
import type { InvariantMaker } from '../invariant.ts';

export const nothingLeft: InvariantMaker = (facts, broken) => ({
  cleared() {
    for (const { metadata } of facts.claims) broken(`claim ${metadata.name} is left: ${JSON.stringify(metadata)}`);
    for (const { metadata } of facts.nodes) broken(`node ${metadata.name} is left: ${JSON.stringify(metadata)}`);
    for (const { id, state } of facts.instances) broken(`machine ${id} is left, ${state}`);
    if (facts.parts > 0) broken(`${facts.parts} parts of machines are left`);
    for (const { metadata } of facts.pools) broken(`pool ${metadata.name} is left with ${metadata.finalizers}`);
    for (const { metadata } of facts.pods) broken(`pod ${metadata.name} is left`);
  },
});
