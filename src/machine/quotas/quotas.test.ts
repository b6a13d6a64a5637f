import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { FileTree } from '../disk/file-tree.ts'
import { SimulatedDisk } from '../disk/simulated-disk.ts'
import { limitCommands, ProjectQuotas, quotaMountOf } from './project-quotas.ts'
import { SimulatedQuotas } from './simulated-quotas.ts'

const { signal } = new AbortController()
const mountInfo = [
  '22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
  '23 22 254:2 / /data rw,relatime shared:2 - xfs /dev/vdb rw,attr2,prjquota',
  '24 22 254:3 / /with\\040space rw - ext4 /dev/vdc rw,prjquota',
  '25 23 0:30 / /data/tmp rw - tmpfs tmpfs rw',
  '26 22 254:4 / /old rw - xfs /dev/vdd rw,usrquota',
  '',
].join('\n')

test('the file system of a path, if it has project quotas', () => {
  const cases: [path: string, mount: ReturnType<typeof quotaMountOf>][] = [
    ['/data/node/local-path', { mountPoint: '/data', type: 'xfs' }],
    ['/data', { mountPoint: '/data', type: 'xfs' }],
    ['/database', undefined],
    ['/data/tmp/x', undefined],
    ['/with space/x', { mountPoint: '/with space', type: 'ext4' }],
    ['/old/x', undefined],
  ]
  for (const [path, mount] of cases) deepEqual(quotaMountOf(path, mountInfo), mount, path)
  equal(quotaMountOf('/x', ''), undefined)
})

test('the commands that limit a directory', () => {
  deepEqual(limitCommands({ type: 'xfs', mountPoint: '/data' }, '/data/v', 7, 1_500), [
    ['xfs_quota', '-x', '-c', 'project -s -p "/data/v" 7', '/data'],
    ['xfs_quota', '-x', '-c', 'limit -p bhard=1500 7', '/data'],
  ])
  deepEqual(limitCommands({ type: 'ext4', mountPoint: '/' }, '/v', 7, 1_500), [
    ['chattr', '+P', '-p', '7', '/v'],
    ['setquota', '-P', '7', '0', '2', '0', '0', '/'],
  ])
})

function quotas(missing: readonly string[] = [], code = 0) {
  const ran: string[] = []
  const run = (command: string, args: readonly string[]) => {
    if (missing.includes(command)) return Promise.reject(new Error(`spawn ${command} ENOENT`))
    ran.push([command, ...args].join(' '))
    return Promise.resolve({ code, stdout: '', stderr: 'no permission\n' })
  }
  return { ran, quotas: new ProjectQuotas({ processes: { run }, mountInfo: () => Promise.resolve(mountInfo) }) }
}

test('quotas are supported if the file system has them and the programs are installed', async () => {
  equal(await quotas().quotas.supports('/data/x', signal), true)
  equal(await quotas(['xfs_quota']).quotas.supports('/data/x', signal), false)
  equal(await quotas(['setquota']).quotas.supports('/with space/x', signal), false)
  equal(await quotas().quotas.supports('/home', signal), false)
})

test('a directory is limited, and failures name the program', async () => {
  const { ran, quotas: working } = quotas()
  await working.limit('/data/v', 7, 10, signal)
  equal(ran.length, 2)
  await rejects(quotas([], 1).quotas.limit('/data/v', 7, 10, signal), /^Error: xfs_quota exited with 1: no permission$/)
  await rejects(quotas().quotas.limit('/home', 7, 10, signal), /the file system of \/home has no project quotas/)
})

test('a simulated directory is limited', async () => {
  const disk = new SimulatedDisk()
  await disk.makeDirectory('/v', 0o777)
  const simulated = new SimulatedQuotas(disk)
  equal(await simulated.supports(), true)
  await simulated.limit('/v', 7, 2)
  const container = new FileTree()
  container.provide('/data', 'directory')
  container.mount('/data', disk.nodeAt('/v') ?? container.directory('/', 'open'))
  throws(() => container.write('/data/x', new Uint8Array(3), 0o644), { code: 'ENOSPC' })
  disk.limitBytes('/v', undefined)
  container.write('/data/x', new Uint8Array(3), 0o644)
})
