import type { ReceivedNotice } from '../../notice.ts';

/** A notice that names its machine by the instance ID, as AWS does. */
export type MachineNotice = Omit<ReceivedNotice, 'providerID'> & { readonly machine: string };
