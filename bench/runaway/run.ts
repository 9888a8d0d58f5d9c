/**
 * `npm run bench -- runaway`: one simulated hour of each trouble that keeps nodes from helping the pods they are launched for, with the
 * machines launched and the money spent in it. It is the same on every machine.
 */
import { oneHourOf, TROUBLES } from '../../test/unit/controllers/testkit/runaway.ts';
import { table } from '../report/table.ts';

export async function runRunaway(): Promise<void> {
  const rows: string[][] = [];
  for (const trouble of TROUBLES) {
    const { machines, dollars, running } = await oneHourOf(trouble);
    rows.push([trouble.name, `${machines}`, `$${dollars.toFixed(3)}`, `${running}`]);
  }
  console.log(table(['one hour of', 'machines', 'spent', 'pods that run'], rows));
}
