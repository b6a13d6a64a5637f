import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Processes } from '../../platform/process/processes.ts'
import { CtrImageMounts } from './image-mounts.ts'

const never = new AbortController().signal

function mountsOn(answers: Readonly<Record<string, { code?: number; stdout?: string }>>) {
  const ran: string[] = []
  const processes = {
    run: (command: string, args: readonly string[]) => {
      const line = [command, ...args].join(' ').replace('ctr --address /sock --namespace k8s.io', 'ctr')
      ran.push(line)
      const [, answer = {}] = Object.entries(answers).find(([start]) => line.startsWith(start)) ?? []
      return Promise.resolve({ code: 0, stdout: '', stderr: 'no room', ...answer })
    },
  } as unknown as Processes
  return { ran, mounts: new CtrImageMounts(processes, { socketPath: '/sock', snapshotter: 'native' }) }
}

const nothing = { 'mountpoint ': { code: 1 } }

test('an image is mounted read-only and noexec', async () => {
  const { ran, mounts } = mountsOn(nothing)
  await mounts.mount('sha256:1', '/v', never)
  deepEqual(ran.slice(-2), ['ctr images mount --snapshotter native sha256:1 /v', 'mount -o remount,bind,ro,noexec /v'])
})

test('leftovers of an earlier mount are removed first, with their snapshot', async () => {
  const { ran, mounts } = mountsOn({
    'ctr snapshots': { stdout: 'KEY PARENT KIND\n/v sha256:2 View\n/other x View\n' },
  })
  await mounts.unmount('/v', never)
  deepEqual(ran, [
    'mountpoint -q /v',
    'umount /v',
    'ctr snapshots --snapshotter native list',
    'ctr snapshots --snapshotter native rm /v',
  ])
})

test('a failed image mount reports why', () =>
  rejects(mountsOn({ ...nothing, 'ctr images': { code: 1 } }).mounts.mount('i', '/v', never), /ctr failed: no room/))
