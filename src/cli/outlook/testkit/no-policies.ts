import { DEFAULT_SPOT_SETTINGS } from '../../../controllers/spot-policy/spot-settings.ts';
import type { OutlookOptions } from '../outlook.ts';

/** No pool has a SpotPolicy. */
export const NO_POLICIES: OutlookOptions['policies'] = { for: () => DEFAULT_SPOT_SETTINGS };
