import type { ReceivedNotice } from './notice.ts';

/** A notice that names its machine as its cloud does. */
export type MachineNotice = Omit<ReceivedNotice, 'providerID'> & { readonly machine: string };
