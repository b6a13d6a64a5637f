// The extension server of the differential test.
import type { ExtensionOptions } from './extension-server.ts'
import { group } from './scenario.ts'

export const gardenOptions: ExtensionOptions = {
  group,
  versions: ['v2', 'v1'],
  serverName: 'garden.default.svc',
}
