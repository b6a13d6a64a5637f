// Types of discovery, of watch events and of patch bodies, which are not kinds.
import { bool, list, message, rawExtension, string, struct } from '../../../schema/descriptor/field.ts'

const name = <Type extends string>(type: Type) => `io.k8s.apimachinery.pkg.apis.meta.v1.${type}` as const
const required = { required: true } as const
const atomic = { listType: 'atomic' } as const

export const groupVersionForDiscovery = message(name('GroupVersionForDiscovery'), {
  groupVersion: string(1, required),
  version: string(2, required),
})

export const serverAddressByClientCidr = message(name('ServerAddressByClientCIDR'), {
  clientCIDR: string(1, required),
  serverAddress: string(2, required),
})

export const apiGroup = message(
  name('APIGroup'),
  {
    name: string(1, required),
    versions: list(2, groupVersionForDiscovery, { ...required, ...atomic }),
    preferredVersion: struct(3, groupVersionForDiscovery),
    serverAddressByClientCIDRs: list(4, serverAddressByClientCidr, atomic),
  },
  'The versions of an API group.',
)

export const apiGroupList = message(
  name('APIGroupList'),
  { groups: list(1, apiGroup, { ...required, ...atomic }) },
  'Every API group that is served.',
)

export const apiResource = message(name('APIResource'), {
  name: string(1, required),
  namespaced: bool(2, required),
  kind: string(3, required),
  verbs: list(4, 'string', required),
  shortNames: list(5, 'string', atomic),
  singularName: string(6, required),
  categories: list(7, 'string', atomic),
  group: string(8),
  version: string(9),
  storageVersionHash: string(10),
})

export const apiResourceList = message(
  name('APIResourceList'),
  {
    groupVersion: string(1, required),
    resources: list(2, apiResource, { ...required, ...atomic }),
  },
  'Every resource of one version of an API group.',
)

export const apiVersions = message(
  name('APIVersions'),
  {
    versions: list(1, 'string', { ...required, ...atomic }),
    serverAddressByClientCIDRs: list(2, serverAddressByClientCidr, { ...required, ...atomic }),
  },
  'The versions of the API without a group.',
)

export const patch = message(name('Patch'), {}, 'A patch of an object, in the format of its media type.')

export const watchEvent = message(
  name('WatchEvent'),
  { type: string(1, required), object: rawExtension(2, required) },
  'One change that a watch delivers.',
)

export const versionInfo = message('io.k8s.apimachinery.pkg.version.Info', {
  major: string(1, required),
  minor: string(2, required),
  emulationMajor: string(3),
  emulationMinor: string(4),
  minCompatibilityMajor: string(5),
  minCompatibilityMinor: string(6),
  gitVersion: string(7, required),
  gitCommit: string(8, required),
  gitTreeState: string(9, required),
  buildDate: string(10, required),
  goVersion: string(11, required),
  compiler: string(12, required),
  platform: string(13, required),
})
