/** `npm run bench -- falling-load`: 1,000 nodes with 30 pods each lose half of their pods. Memory is that of the whole process. */
import { table } from '../report/table.ts';
import { fallingLoad } from './falling-load.ts';

const MACHINES = 1000;
const PODS_PER_NODE = 30;

export async function runFallingLoad(): Promise<void> {
  const { firstAction, claims, longestBlock, memoryPeak } = await fallingLoad(MACHINES, PODS_PER_NODE);
  console.log(
    table(
      ['nodes', 'pods before', 'first action after, s', 'claims that go', 'longest block, ms', 'memory, MB'],
      [
        [
          `${MACHINES}`,
          `${MACHINES * PODS_PER_NODE}`,
          firstAction.toFixed(1),
          `${claims}`,
          longestBlock.toFixed(0),
          memoryPeak.toFixed(0),
        ],
      ],
    ),
  );
}
