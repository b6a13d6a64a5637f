import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { RunResult } from '../../platform/process/processes.ts'
import { ctrAt } from './ctr.ts'
import { importArchive } from './image-archives.ts'

const { signal } = new AbortController()

/** A `ctr` that records its calls. */
const toolOf = (result: Partial<RunResult>) => {
  const calls: string[] = []
  const run = (command: string, args: readonly string[]) => {
    calls.push([command, ...args].join(' '))
    return Promise.resolve({ code: 0, stdout: '', stderr: '', ...result })
  }
  return { calls, ctr: ctrAt({ run }, '/node/containerd.sock') }
}

test('an archive is imported with the node’s socket and namespace, and the image names are returned', async () => {
  const stdout = [
    'unpacking docker.io/library/app:1 (sha256:00)...done',
    'unpacking registry.example/team/tool:2 (sha256:11)...done',
    'time="…" level=info msg="other"',
  ].join('\n')
  const { calls, ctr } = toolOf({ stdout })
  deepEqual(await importArchive('a.tar', 'native', ctr, signal), [
    'docker.io/library/app:1',
    'registry.example/team/tool:2',
  ])
  deepEqual(calls, ['ctr --address /node/containerd.sock --namespace k8s.io images import --snapshotter native a.tar'])
})

test('an error of the tool is reported', async () => {
  const { ctr } = toolOf({ code: 1, stderr: 'ctr: unrecognized image format\n' })
  await rejects(importArchive('a.txt', 'native', ctr, signal), /ctr failed: ctr: unrecognized image format$/)
})
