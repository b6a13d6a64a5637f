// Volumes as containers see them: the content, ownership, write access and subPath of every type, the effects of an
// update, a restart and a crash of the kubelet, and the removal of everything.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until, untilMatch } from '../until.ts'
import { bind, claim, patch, volume } from './bound-claims.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

interface VolumeCase {
  readonly volume: object
  /** A file in the volume, and its initial content. */
  readonly file: string
  readonly content: string
  /** Mode, owner and group of that file, as `stat` prints them, with the pod's group 2000. */
  readonly owner: string
  readonly isWritable: boolean
  /** Changes the content of the volume to `changed`; absent where nothing changes. */
  readonly change?: (up: RealUp) => Promise<unknown>
}

const changed = 'changed'
const isOnOverlay = /^\S+ \/ overlay /m.test(readFileSync('/proc/mounts', 'utf8'))
const snapshotter = ['--snapshotter', isOnOverlay ? 'native' : 'overlayfs']
const fsGroup = 2000

const casesBelow = (folder: string, image: string): Readonly<Record<string, VolumeCase>> => ({
  'config-map': {
    volume: { configMap: { name: 'settings', defaultMode: 0o400, items: [{ key: 'color', path: 'deep/file' }] } },
    file: 'deep/file',
    content: 'red',
    owner: '440 0 2000',
    isWritable: false,
    change: patch('configmap', 'settings', { data: { color: changed } }),
  },
  secret: {
    volume: { secret: { secretName: 'keys', items: [{ key: 'token', path: 'file', mode: 0o604 }] } },
    file: 'file',
    content: 'hunter2',
    owner: '644 0 2000',
    isWritable: false,
    change: patch('secret', 'keys', { stringData: { token: changed } }),
  },
  'downward-api': {
    volume: { downwardAPI: { items: [{ path: 'file', fieldRef: { fieldPath: "metadata.labels['color']" } }] } },
    file: 'file',
    content: 'red',
    owner: '644 0 2000',
    isWritable: false,
    change: (up) => up.k(['label', '--overwrite', 'pod', 'downward-api', `color=${changed}`]),
  },
  projected: {
    volume: {
      projected: {
        sources: [
          { configMap: { name: 'shared', items: [{ key: 'color', path: 'file' }] } },
          { secret: { name: 'keys', items: [{ key: 'other', path: 'secret' }] } },
          { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
          { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } },
          { configMap: { name: 'nowhere', optional: true } },
        ],
      },
    },
    file: 'file',
    content: 'red',
    owner: '644 0 2000',
    isWritable: false,
    change: patch('configmap', 'shared', { data: { color: changed } }),
  },
  'empty-dir': {
    volume: { emptyDir: {} },
    file: 'file',
    content: 'written',
    owner: '644 0 2000',
    isWritable: true,
  },
  memory: {
    volume: { emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    file: 'file',
    content: 'written',
    owner: '644 0 2000',
    isWritable: true,
  },
  'host-path': {
    volume: { hostPath: { path: join(folder, 'host'), type: 'DirectoryOrCreate' } },
    file: 'file',
    content: 'written',
    owner: '644 0 0',
    isWritable: true,
  },
  image: {
    volume: { image: { reference: image, pullPolicy: 'IfNotPresent' } },
    file: 'etc/word',
    content: 'inside',
    owner: '644 0 0',
    isWritable: false,
  },
  'claim-of-host-path': {
    volume: { persistentVolumeClaim: { claimName: 'of-host-path' } },
    file: 'file',
    content: 'written',
    owner: '644 0 0',
    isWritable: true,
  },
  'claim-of-local': {
    volume: { persistentVolumeClaim: { claimName: 'of-local' } },
    file: 'file',
    content: 'written',
    owner: '644 0 2000',
    isWritable: true,
  },
})

const podOf = (name: string, image: string, spec: VolumeCase) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { color: 'red' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    securityContext: { fsGroup, fsGroupChangePolicy: 'OnRootMismatch' },
    // Files that containers write themselves are written before they are checked.
    initContainers: [
      {
        name: 'first',
        image,
        command: ['/bin/sh', '-c', spec.isWritable ? `umask 022; printf ${spec.content} > /v/${spec.file}` : 'true'],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    containers: [
      {
        name: 'c',
        image,
        env: [{ name: 'FILE', value: spec.file }],
        volumeMounts: [
          { name: 'v', mountPath: '/v' },
          { name: 'v', mountPath: '/read', readOnly: true },
          { name: 'v', mountPath: '/part', subPathExpr: '$(FILE)' },
        ],
      },
    ],
    volumes: [{ name: 'v', ...spec.volume }],
  },
})

/** A script that waits until a file has this content, for a limited time. */
const waitForContent = (path: string, text: string) =>
  `for i in $(seq 100); do test "$(cat ${path})" = ${text} && exit 0; sleep 0.1; done; cat ${path}; exit 1`

inNamespaces(import.meta.url, () => {
  test('every type of volume: content, owner, write access, subPath, updates, restarts, a crash, and removal', async () => {
    await using up = await startRealUp()
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-volumes-'))
    for (const name of ['local', 'persistent']) await mkdir(join(folder, name))
    const cases = Object.entries(casesBelow(folder, up.image))
    const here = { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }] }
    await up.apply(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'red', size: 'big' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' }, data: { color: 'red' } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { token: 'hunter2', other: 'x' } },
      volume('of-host-path', { hostPath: { path: join(folder, 'persistent'), type: 'Directory' } }),
      volume('of-local', {
        local: { path: join(folder, 'local') },
        nodeAffinity: { required: { nodeSelectorTerms: [here] } },
      }),
      claim('of-host-path'),
      claim('of-local'),
    )
    for (const name of ['of-host-path', 'of-local']) await bind(up, name)
    await up.apply(...cases.map(([name, spec]) => podOf(name, up.image, spec)))
    const ready = () => up.k(['wait', 'pod', '--all', '--for=condition=Ready', '--timeout=200s'])
    await ready().catch(async (error: unknown) => {
      throw new Error(await up.k(['get', 'events']), { cause: error })
    })
    for (const [name, { file, content, owner, isWritable }] of cases) {
      const stat = '/bin/busybox stat -L -c "%a %u %g"'
      const seen = await up.sh(
        name,
        `cat /v/${file} && echo && cat /read/${file} && echo && cat /part && echo && ${stat} /v/${file} && ` +
          `{ touch /v/new 2>/dev/null && echo yes || echo no; } && { touch /read/new 2>/dev/null && echo yes || echo no; }`,
      )
      const writes = isWritable ? 'yes' : 'no'
      deepEqual(seen.trim().split('\n'), [content, content, content, owner, writes, 'no'], name)
    }
    match(await up.sh('memory', 'grep " /v " /proc/mounts'), /^tmpfs \/v tmpfs .*size=1024k/)
    equal(await up.sh('memory', '/bin/busybox stat -c %a /v'), '3777\n', 'as a tmpfs, and for its group')
    equal(
      await up.sh('projected', 'cat /v/name; /bin/busybox stat -L -c " %a %u %g" /v/token'),
      'projected 640 0 2000\n',
    )

    equal(await up.sh('image', '/v/bin/busybox true 2>/dev/null || echo no'), 'no\n', 'what an image shows is not run')

    // Updates arrive while the pods run; a subPath mount does not change.
    for (const [name, { change, file, content }] of cases)
      if (change !== undefined) {
        await change(up)
        await up.sh(name, waitForContent(`/v/${file}`, changed))
        equal(await up.sh(name, 'cat /part'), content)
      }

    // Everything except the containers crashes: volumes stay mounted and are updated afterwards.
    await up.crash()
    await patch('configmap', 'shared', { data: { color: 'again' } })(up)
    await up.sh('projected', waitForContent('/v/file', 'again'))

    // Restarted containers have their volumes again, with the current content in subPath mounts.
    for (const [name] of cases) await up.endContainer(name)
    const restarts = async () =>
      (await up.k(['get', 'pods', '-o', 'jsonpath={.items[*].status.containerStatuses[0].restartCount}'])).split(' ')
    await until(async () => (await restarts()).every((count) => Number(count) > 0))
    await ready()
    for (const [name, { change, file, content }] of cases) {
      const now = change === undefined ? content : name === 'projected' ? 'again' : changed
      equal(await up.sh(name, `cat /v/${file} /part`), now + now, name)
    }

    const socket = join(up.podsFolder, '..', 'containerd', 'containerd.sock')
    const snapshots = () => execFileSync('ctr', ['-a', socket, '-n', 'k8s.io', 'snapshots', ...snapshotter, 'list'])
    match(snapshots().toString(), /kubernetes\.io~image/)
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    deepEqual([await readdir(up.podsFolder), await up.mounts()], [[], []])
    doesNotMatch(snapshots().toString(), /kubernetes\.io~image/)
  })

  test('a block volume is a device in the container, and cannot be mounted', async () => {
    await using up = await startRealUp()
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-devices-'))
    const path = join(folder, 'device')
    // The device has no driver: it is neither read nor written.
    execFileSync('mknod', [path, 'b', '240', '7'])
    const here = { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }] }
    const required = { nodeSelectorTerms: [here] }
    const block = { volumeMode: 'Block' }
    await up.apply(volume('raw', { ...block, local: { path }, nodeAffinity: { required } }), claim('raw', block))
    await bind(up, 'raw')
    const pod = (name: string, container: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'c', image: up.image, ...container }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'raw' } }],
      },
    })
    await up.apply(pod('device', { volumeDevices: [{ name: 'v', devicePath: '/dev/xvda' }] }))
    await up.apply(pod('files', { volumeMounts: [{ name: 'v', mountPath: '/v' }] }))
    await up.k(['wait', 'pod/device', '--for=condition=Ready', '--timeout=200s'])
    equal(await up.sh('device', '/bin/busybox stat -c "%F %t:%T" /dev/xvda'), 'block special file f0:7\n')
    const state = 'jsonpath={.status.containerStatuses[0].state.waiting.message}'
    const wanted = 'volume v has volumeMode Block, but is specified in volumeMounts'
    await until(async () => (await up.k(['get', 'pod', 'files', '-o', state])) === wanted)
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    deepEqual([await readdir(up.podsFolder), await up.mounts()], [[], []])
  })

  test('a symbolic link in a volume does not let a subPath leave the volume', async () => {
    await using up = await startRealUp()
    const outside = await mkdtemp(join(tmpdir(), 'coxswain-outside-'))
    await writeFile(join(outside, 'secret'), 'secret')
    const hostile = (name: string, link: string, subPath: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 1,
        initContainers: [
          {
            name: 'plant',
            image: up.image,
            command: ['/bin/sh', '-c', link],
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
          },
        ],
        containers: [{ name: 'c', image: up.image, volumeMounts: [{ name: 'v', mountPath: '/part', subPath }] }],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    })
    const ln = '/bin/busybox ln -s'
    await up.apply(
      hostile('root', `${ln} / /v/out`, 'out'),
      hostile('deep', `${ln} ${outside} /v/out`, 'out/secret'),
      hostile('dots', `mkdir /v/a && ${ln} ../../../../../../../../.. /v/a/out`, 'a/out/etc'),
      hostile('inside', `mkdir -p /v/real && touch /v/real/fine && ${ln} real /v/alias`, 'alias'),
    )
    const state =
      'jsonpath={.status.containerStatuses[0].state.waiting.reason} {.status.containerStatuses[0].state.waiting.message}'
    for (const name of ['root', 'deep', 'dots']) {
      const reason = await untilMatch(() => up.k(['get', 'pod', name, '-o', state]), /^CreateContainerConfigError/)
      equal(reason, 'CreateContainerConfigError failed to prepare subPath for volumeMount "v" of container "c"')
    }
    await up.k(['wait', 'pod/inside', '--for=condition=Ready', '--timeout=200s'])
    match(await up.sh('inside', 'ls /part'), /^fine$/m)
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    deepEqual([await readdir(up.podsFolder), await up.mounts()], [[], []])
  })
})
