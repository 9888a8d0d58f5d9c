/** The group of the kinds that are Spindrift's own, and the domain of their labels. */
export const SPINDRIFT_GROUP = 'spindrift.dev';
