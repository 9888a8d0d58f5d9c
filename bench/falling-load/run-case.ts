/** One fall of the load; its figures as JSON on standard output. Arguments: nodes, pods on each. */
import { fallingLoad } from './falling-load.ts';

const [machines = '1000', pods = '30'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await fallingLoad(Number(machines), Number(pods))));
process.exit(0);
