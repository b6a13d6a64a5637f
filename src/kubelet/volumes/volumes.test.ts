import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { VolumeManager } from './volume-manager.ts'
import { volumeTypes } from './volume-types.ts'
import type { VolumeSources } from './contract/volume-type.ts'

const ctx = context(new AbortController().signal)
const made = <T extends ApiObject>(kind: Kind<T>, body: object): T =>
  kind.applyDefaults(withDefaults(kind.message, decode(kind.message, body).value as unknown as T))

const podWith = (volume: object, spec: object = {}): Pod =>
  made(pod, {
    metadata: { name: 'web', namespace: 'default', uid: 'u', labels: { a: '1' } },
    spec: {
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      volumes: [{ name: 'v', ...volume }],
      ...spec,
    },
  })

const claimOf = (name: string, more: object = {}) =>
  made(persistentVolumeClaim, {
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: { volumeName: `volume-${name}` },
    status: { phase: 'Bound' },
    ...more,
  })
const claims: Readonly<Record<string, ReturnType<typeof claimOf>>> = {
  here: claimOf('here'),
  local: claimOf('local'),
  elsewhere: claimOf('elsewhere'),
  device: claimOf('device'),
  formatted: claimOf('formatted'),
  unformatted: claimOf('unformatted'),
  file: claimOf('file'),
  driver: claimOf('driver'),
  fibre: claimOf('fibre'),
  share: claimOf('share'),
  waiting: claimOf('waiting', { status: { phase: 'Pending' } }),
  'web-v': claimOf('web-v', {
    metadata: {
      name: 'web-v',
      namespace: 'default',
      uid: 'uid-web-v',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u', controller: true }],
    },
  }),
}
const volumeSources: Readonly<Record<string, object>> = {
  'volume-here': { hostPath: { path: '/data', type: 'DirectoryOrCreate' } },
  'volume-local': { local: { path: '/disk' } },
  'volume-device': { volumeMode: 'Block', local: { path: '/dev/sda' } },
  'volume-formatted': { local: { path: '/dev/sda', fsType: 'xfs' }, mountOptions: ['noatime'] },
  'volume-unformatted': { local: { path: '/dev/sda' } },
  'volume-file': { local: { path: '/file' } },
  'volume-driver': { csi: { driver: 'd', volumeHandle: 'h' } },
  'volume-fibre': { fc: { lun: 1, targetWWNs: ['w'] } },
  'volume-share': { nfs: { server: 'fd00::1', path: '/share' }, mountOptions: ['nfsvers=4'] },
  'volume-web-v': { hostPath: { path: '/own' } },
  'volume-elsewhere': {
    local: { path: '/disk' },
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }] },
    },
  },
}

let color = 'red'
const apiObjects: VolumeSources = {
  configMap: (_, name) =>
    Promise.resolve(
      name === 'settings' ? made(configMap, { metadata: { name }, data: { color, size: 'big' } }) : undefined,
    ),
  claim: (_, name) => Promise.resolve(claims[name]),
  persistentVolume: (name) => {
    const claimRef = { name: name.slice('volume-'.length), uid: `uid-${name.slice('volume-'.length)}` }
    const spec = volumeSources[name] && { claimRef, ...volumeSources[name] }
    return Promise.resolve(spec && made(persistentVolume, { metadata: { name }, spec }))
  },
  node: () => Promise.resolve(made(node, { metadata: { name: 'n', labels: { zone: 'a' } } })),
  secret: (_, name) =>
    Promise.resolve(
      name === 'keys' ? made(secret, { metadata: { name }, data: { token: btoa('hunter2') } }) : undefined,
    ),
  accountToken: () => Promise.reject(new Error('not used')),
  csiDriver: () => Promise.resolve(undefined),
  volumeAttachment: () => Promise.resolve(undefined),
  uncachedNode: () => Promise.resolve(undefined),
  token: (_, audience, seconds) => Promise.resolve(`token for ${audience ?? 'us'} over ${seconds} s`),
}

function volumesOn(disk: SimulatedDisk, sources: VolumeSources = apiObjects): VolumeManager {
  const nodeInfo = { nodeName: 'n', hostIp: '10.0.0.1', allocatable: {} }
  return new VolumeManager({ disk, sources, paths: { pods: '/pods', logs: '/logs' }, node: nodeInfo })
}

async function mounted(volume: object, spec: object = {}, disk = new SimulatedDisk()) {
  const places = await volumesOn(disk).mount(podWith(volume, spec), new Map(), ctx)
  const { path: place = '', readOnly } = places.get('v') ?? {}
  const text = async (path: string) => {
    const bytes = await disk.readTail(`${place}/${path}`, 1_000)
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
  }
  return { disk, place, readOnly, text }
}

const files: [what: string, volume: object, path: string, expected: string | undefined][] = [
  ['a ConfigMap', { configMap: { name: 'settings' } }, 'color', 'red'],
  ['a selected key', { configMap: { name: 'settings', items: [{ key: 'size', path: 'a/b' }] } }, 'a/b', 'big'],
  [
    'a key that was not selected',
    { configMap: { name: 'settings', items: [{ key: 'size', path: 's' }] } },
    'color',
    undefined,
  ],
  ['an optional ConfigMap', { configMap: { name: 'no', optional: true } }, 'color', undefined],
  ['a Secret', { secret: { secretName: 'keys' } }, 'token', 'hunter2'],
  [
    'a field',
    { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    'labels',
    'a="1"',
  ],
  [
    'a projected token',
    { projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'x', expirationSeconds: 600 } }] } },
    't',
    'token for x over 600 s',
  ],
  [
    'one of several projected sources',
    { projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'keys' } }] } },
    'token',
    'hunter2',
  ],
]
for (const [what, volume, path, expected] of files)
  test(`a volume contains ${what}`, async () => equal(await (await mounted(volume)).text(path), expected))

const refused: [volume: object, message: RegExp][] = [
  [{ configMap: { name: 'no' } }, /^MountVolume.SetUp failed for volume "v" : configmap "no" not found$/],
  [{ secret: { secretName: 'no' } }, /secret "no" not found$/],
  [{ configMap: { name: 'settings', items: [{ key: 'no', path: 'x' }] } }, /references non-existent config key: no$/],
  [{ hostPath: { path: '/none', type: 'Directory' } }, /hostPath type check failed: \/none is not a directory$/],
  [{ hostPath: { path: '/none', type: 'Socket' } }, /hostPath type check failed: \/none is not a socket file$/],
  [{ emptyDir: { medium: 'Floppy' } }, /"v" : unknown storage medium "Floppy"$/],
  [
    { persistentVolumeClaim: { claimName: 'no' } },
    /^Unable to attach or mount volumes: unmounted volumes=\[v\], unattached volumes=\[\], failed to process volumes=\[v\]: error processing PVC default\/no: failed to fetch PVC from API server: persistentvolumeclaims "no" not found$/,
  ],
  [{ persistentVolumeClaim: { claimName: 'waiting' } }, /error processing PVC default\/waiting: PVC is not bound$/],
  [
    { persistentVolumeClaim: { claimName: 'local' } },
    /^MountVolume.NewMounter initialization failed for volume "volume-local" : path "\/disk" does not exist$/,
  ],
  [
    { persistentVolumeClaim: { claimName: 'elsewhere' } },
    /^MountVolume.NodeAffinity check failed for volume "volume-elsewhere" : no matching NodeSelectorTerms$/,
  ],
  [{ persistentVolumeClaim: { claimName: 'device' } }, /volume "volume-device" : \/dev\/sda is not a block device$/],
  [
    { emptyDir: { medium: 'HugePages' } },
    /medium HugePages: hugePages storage requested, but there is no resource request/,
  ],
  [{ emptyDir: { medium: 'HugePages-2Mi' } }, /medium HugePages-2Mi: hugePages storage requested, but there is no/],
  [{ image: { reference: 'tools:1' } }, /image volumes are not supported on this node$/],
  [
    { nfs: { server: 's', path: '/' } },
    /^MountVolume.SetUp failed for volume "v" : mount.nfs is not installed on this node$/,
  ],
  [{ csi: { driver: 'd' } }, /"v" : volumes of storage drivers are not supported on this node$/],
  [
    { iscsi: { targetPortal: 'p', iqn: 'q', lun: 0 } },
    /^MountVolume.SetUp failed for volume "v" : volumes of type iscsi are not supported on this node$/,
  ],
  [{ rbd: { monitors: ['m'], image: 'i' } }, /volumes of type rbd are not supported on this node$/],
  [
    { persistentVolumeClaim: { claimName: 'fibre' } },
    /failed to process volumes=\[v\]: persistent volume "volume-fibre" is of type fc, which is not supported on this node$/,
  ],
  [
    { persistentVolumeClaim: { claimName: 'driver' } },
    /persistent volume "volume-driver" is of type csi, which is not supported on this node$/,
  ],
]
for (const [volume, message] of refused)
  test(`a volume that is not available reports why: ${message.source}`, () => rejects(mounted(volume), { message }))

test('secrets are in memory, and everything is removed with the pod', async () => {
  const { disk, place } = await mounted({ secret: { secretName: 'keys' } })
  match(place, /^\/pods\/u\/volumes\/kubernetes\.io~secret\/v$/)
  deepEqual(await disk.mountsBelow('/pods'), [place])
  await volumesOn(disk).remove('u', ctx)
  deepEqual([await disk.mountsBelow('/pods'), await disk.list('/pods/u')], [[], []])
})

test('huge pages have the size that the pod requests', async () => {
  const asks = (...sizes: string[]) => ({
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { requests: Object.fromEntries(sizes.map((size) => [`hugepages-${size}`, '4Mi'])) },
      },
    ],
  })
  const sizes: number[] = []
  class PagedDisk extends SimulatedDisk {
    override mountHugetlbfs(path: string, pageBytes: number) {
      sizes.push(pageBytes)
      return super.mountHugetlbfs(path, pageBytes)
    }
  }
  await mounted({ emptyDir: { medium: 'HugePages' } }, asks('2Mi'), new PagedDisk())
  await mounted({ emptyDir: { medium: 'HugePages-64Ki' } }, asks('2Mi', '64Ki'), new PagedDisk())
  deepEqual(sizes, [2 << 20, 64 << 10])
  await rejects(mounted({ emptyDir: { medium: 'HugePages' } }, asks('2Mi', '64Ki')), /multiple huge page sizes/)
})

class DiskWithDevice extends SimulatedDisk {
  override kindOf(path: string) {
    return path === '/dev/sda' ? Promise.resolve('block-device' as const) : super.kindOf(path)
  }
}

test('a block volume is a device and cannot be mounted', async () => {
  const volumes = volumesOn(new DiskWithDevice())
  const target = podWith({ persistentVolumeClaim: { claimName: 'device', readOnly: true } })
  const places = await volumes.mount(target, new Map(), ctx)
  const volumeDevices = [{ name: 'v', devicePath: '/dev/xvda' }]
  const seen = { hostPath: '/dev/sda', containerPath: '/dev/xvda', readOnly: true }
  deepEqual(volumes.devicesOf({ volumeDevices }, places), [seen])
  const mounts = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }
  await rejects(
    volumes.mountsOf('u', mounts, places, new Map(), () => Promise.resolve(true)),
    { message: 'volume v has volumeMode Block, but is specified in volumeMounts' },
  )
  const mountPoints = new Map([['v', { path: '/place', readOnly: false }]])
  throws(() => volumes.devicesOf({ volumeDevices }, mountPoints), {
    message: 'volume v has volumeMode Filesystem, but is specified in volumeDevices',
  })
})

test('an image volume is mounted read-only once its image is present, and its snapshot is removed with the pod', async () => {
  const disk = new SimulatedDisk()
  const done: string[] = []
  const imageMounts = {
    mount: async (id: string, path: string) => {
      done.push(`mount ${id} ${path}`)
      await disk.mountTmpfs(path, undefined)
    },
    unmount: async (path: string) => {
      done.push(`unmount ${path}`)
      await disk.unmount(path)
    },
  }
  const nodeInfo = { nodeName: 'n', hostIp: '10.0.0.1', allocatable: {} }
  const paths = { pods: '/pods', logs: '/logs' }
  const volumes = new VolumeManager({ disk, sources: apiObjects, paths, node: nodeInfo, imageMounts })
  const target = podWith({ image: { reference: 'tools:1' } })
  const image = { id: 'sha256:1', tags: [], digests: [], sizeBytes: 0, uid: 0, username: '' }
  deepEqual([...(await volumes.mount(target, new Map(), ctx))], [], 'the sandbox does not wait for it')
  const place = { path: '/pods/u/volumes/kubernetes.io~image/v', readOnly: true, isSealed: true }
  for (const _ of ['first container', 'second container'])
    deepEqual([...(await volumes.mount(target, new Map([['v', image]]), ctx))], [['v', place]])
  await volumes.unmount('u', ctx)
  deepEqual(done, [`mount sha256:1 ${place.path}`, `unmount ${place.path}`])
  deepEqual(await disk.mountsBelow('/pods'), [])
})

test('an emptyDir keeps its content for the lifetime of its pod, in memory if requested', async () => {
  const disk = new SimulatedDisk()
  const { place } = await mounted({ emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, {}, disk)
  await disk.write(`${place}/kept`, { content: new Uint8Array(3), mode: 0o644 })
  const again = await mounted({ emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, {}, disk)
  equal((await disk.list(again.place)).includes('kept'), true)
})

test('an nfs volume is mounted once, with the options of its persistent volume, and unmounted with its pod', async () => {
  const done: string[] = []
  class NetworkDisk extends SimulatedDisk {
    override mountNetwork(type: string, source: string, path: string, options: readonly string[]) {
      done.push(`${type} ${source} ${path} ${options.join(',')}`)
      return super.mountNetwork(type, source, path, options)
    }
  }
  const disk = new NetworkDisk(['nfs'])
  const inline = await mounted({ nfs: { server: 'files', path: '/data', readOnly: true } }, {}, disk)
  deepEqual([inline.place, inline.readOnly], ['/pods/u/volumes/kubernetes.io~nfs/v', true])
  const bound = await mounted({ persistentVolumeClaim: { claimName: 'share' } }, {}, disk)
  equal(bound.place, '/pods/u/volumes/kubernetes.io~nfs/volume-share')
  deepEqual(done, [
    'nfs files:/data /pods/u/volumes/kubernetes.io~nfs/v ro',
    'nfs [fd00::1]:/share /pods/u/volumes/kubernetes.io~nfs/volume-share nfsvers=4',
  ])
  await volumesOn(disk).unmount('u', ctx)
  deepEqual(await disk.mountsBelow('/pods'), [])
})

test('a local volume on a device is mounted with its file system, and unmounted with its pod', async () => {
  const done: string[] = []
  class FormattedDisk extends DiskWithDevice {
    override mountDevice(device: string, type: string, path: string, options: readonly string[] = []) {
      done.push(`${type} ${device} ${path} ${options.join(',')}`)
      return super.mountDevice(device, type, path)
    }
  }
  const disk = new FormattedDisk()
  for (const claimName of ['formatted', 'unformatted'])
    await mounted({ persistentVolumeClaim: { claimName } }, {}, disk)
  deepEqual(done, [
    'xfs /dev/sda /pods/u/volumes/kubernetes.io~local-volume/volume-formatted noatime',
    'ext4 /dev/sda /pods/u/volumes/kubernetes.io~local-volume/volume-unformatted ',
  ])
  await disk.write('/pods/u/volumes/kubernetes.io~local-volume/volume-formatted/f', {
    content: new Uint8Array(),
    mode: 0o644,
  })
  equal(await disk.kindOf('/pods/u/volumes/kubernetes.io~local-volume/volume-unformatted/f'), 'file')
  await volumesOn(disk).unmount('u', ctx)
  deepEqual(await disk.mountsBelow('/pods'), [])
  await disk.write('/file', { content: new Uint8Array(), mode: 0o644 })
  await rejects(mounted({ persistentVolumeClaim: { claimName: 'file' } }, {}, disk), {
    message:
      'MountVolume.MountDevice failed for volume "volume-file" : "/file" is neither a directory nor a block device',
  })
})

test('a hostPath is created if its type says so', async () => {
  const { disk } = await mounted({ hostPath: { path: '/data', type: 'DirectoryOrCreate' } })
  equal(await disk.kindOf('/data'), 'directory')
})

test('a claim resolves to the path of its volume, read-only if it says so', async () => {
  const here = await mounted({ persistentVolumeClaim: { claimName: 'here', readOnly: true } })
  deepEqual([here.place, here.readOnly, await here.disk.kindOf('/data')], ['/data', true, 'directory'])
  const own = await mounted({ ephemeral: { volumeClaimTemplate: { spec: {} } } })
  deepEqual([own.place, own.readOnly], ['/own', false])
  const disk = new SimulatedDisk()
  await disk.makeDirectory('/disk', 0o755)
  await mounted(
    { persistentVolumeClaim: { claimName: 'local' } },
    { securityContext: { fsGroup: 7, fsGroupChangePolicy: 'OnRootMismatch' } },
    disk,
  )
  equal(await disk.hasGroup('/disk', 7), true)
})

test('a claim whose volume is a path of the node is read once while its pod exists', async () => {
  let reads = 0
  const claim: VolumeSources['claim'] = (...args) => {
    reads++
    return apiObjects.claim(...args)
  }
  const volumes = volumesOn(new SimulatedDisk(), { ...apiObjects, claim })
  const target = podWith({ persistentVolumeClaim: { claimName: 'here' } })
  const before = await volumes.mount(target, new Map(), ctx)
  deepEqual([await volumes.mount(target, new Map(), ctx), reads], [before, 1])
  await volumes.unmount('u', ctx)
  await volumes.mount(target, new Map(), ctx)
  equal(reads, 2)
})

test('a mounted volume is refreshed, and an unmounted one is not mounted again', async () => {
  const disk = new SimulatedDisk()
  const volumes = volumesOn(disk)
  const target = podWith({ configMap: { name: 'settings' } })
  const { text } = await mounted({ configMap: { name: 'settings' } }, {}, disk)
  equal(await text('color'), 'red')
  color = 'blue'
  await volumes.refresh(target, ctx)
  color = 'red'
  equal(await text('color'), 'blue')
  await volumes.remove('u', ctx)
  await volumes.refresh(target, ctx)
  deepEqual(await disk.list('/pods'), [])
})

test('a container gets its mounts, with variables in subPathExpr, and only mounted volumes', async () => {
  const disk = new SimulatedDisk()
  const volumes = volumesOn(disk)
  await disk.makeDirectory('/place', 0o755)
  const mountsOf = (mount: object, readOnly = false, supportsRecursive = true) =>
    volumes.mountsOf(
      'u',
      { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/in', ...mount }] },
      new Map([['v', { path: '/place', readOnly }]]),
      new Map([
        ['NAME', 'web'],
        ['UP', '..'],
        ['LONG', 'x'.repeat(2000)],
      ]),
      () => Promise.resolve(supportsRecursive),
    )
  const seen = { hostPath: '/place', containerPath: '/in', readOnly: false, propagation: 'private' }
  deepEqual(await mountsOf({}), [seen])
  deepEqual(await mountsOf({}, true), [{ ...seen, readOnly: true }])
  deepEqual(await mountsOf({ subPathExpr: '$(NAME)/x', readOnly: true, mountPropagation: 'HostToContainer' }), [
    {
      ...seen,
      hostPath: '/pods/u/volume-subpaths/v/c/0',
      readOnly: true,
      propagation: 'host-to-container',
    },
  ])
  equal(await disk.kindOf('/place/web/x'), 'directory')
  const denied = (mount: object, supportsRecursive: boolean) =>
    mountsOf({ readOnly: true, ...mount }, false, supportsRecursive).then(([one]) => one?.recursiveReadOnly ?? false)
  deepEqual(
    [
      await denied({ recursiveReadOnly: 'Enabled' }, true),
      await denied({ recursiveReadOnly: 'IfPossible' }, true),
      await denied({ recursiveReadOnly: 'IfPossible' }, false),
      await denied({ recursiveReadOnly: 'Disabled' }, true),
    ],
    [true, true, false, false],
  )
  const why = 'volume "v" requested recursive read-only mode, but it is '
  await rejects(denied({ recursiveReadOnly: 'Enabled' }, false), { message: `${why}not supported by the runtime` })
  await rejects(denied({ recursiveReadOnly: 'Enabled', readOnly: false }, true), { message: `${why}not read-only` })
  await rejects(mountsOf({ name: 'no' }), /not mounted/)
  await rejects(mountsOf({ subPathExpr: '$(UNDEFINED)' }), { name: 'ConfigError' })
  await rejects(mountsOf({ subPathExpr: '$(UP)/x' }), /must not contain '\.\.'/)
  await rejects(mountsOf({ subPathExpr: '$(LONG)/$(LONG)/$(LONG)' }), {
    name: 'ConfigError',
    message: 'subPathExpr of volumeMount "v" is longer than 4096 characters when it is expanded',
  })
  await rejects(mountsOf({ subPath: '../x' }), {
    message: 'failed to prepare subPath for volumeMount "v" of container "c"',
  })
})

test('the types are listed in alphabetical order', () => {
  const names = volumeTypes.map(({ name }) => name)
  deepEqual(names, names.toSorted())
})
