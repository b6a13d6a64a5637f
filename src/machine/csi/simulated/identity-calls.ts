// The Identity service, and the registration service that introduces the driver to a kubelet.
import type { identityService, registrationService } from '../methods.ts'
import type { ServiceCalls } from './service-calls.ts'
import type { StorageSystem } from './storage-system.ts'

export const identityCalls = (storage: StorageSystem): ServiceCalls<typeof identityService> => ({
  getPluginInfo: () => ({ name: storage.config.driverName, vendorVersion: '1.0.0' }),
  getPluginCapabilities: () => ({
    capabilities: [
      { service: { type: 'CONTROLLER_SERVICE' } },
      ...(hasTopology(storage) ? [{ service: { type: 'VOLUME_ACCESSIBILITY_CONSTRAINTS' } } as const] : []),
      { volumeExpansion: { type: 'ONLINE' } },
    ],
  }),
  probe: () => ({ ready: { value: true } }),
})

export const hasTopology = ({ nodes }: StorageSystem): boolean =>
  nodes.values().some(({ topology }) => Object.keys(topology).length > 0)

/** How the kubelet answered the registration: undefined before it did. */
export interface Registration {
  status: { readonly isRegistered: boolean; readonly error: string } | undefined
}

export const registrationCalls = (
  { config }: StorageSystem,
  endpoint: string,
  registration: Registration,
): ServiceCalls<typeof registrationService> => ({
  getInfo: () => ({ type: 'CSIPlugin', name: config.driverName, endpoint, supportedVersions: ['1.0.0'] }),
  notifyRegistrationStatus: ({ pluginRegistered, error }) => {
    registration.status = { isRegistered: pluginRegistered, error }
    return {}
  },
})
