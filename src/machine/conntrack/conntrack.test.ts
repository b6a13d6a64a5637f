import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ConntrackProgram } from './conntrack-program.ts'

const { signal } = new AbortController()
const flows = {
  family: 'IPv4',
  address: '10.96.0.10',
  port: 53,
  endpoint: { address: '10.244.0.2', port: 5353 },
} as const

function programThat(code: number, stderr: string) {
  const calls: (readonly string[])[] = []
  const run = (command: string, args: readonly string[]) => {
    calls.push([command, ...args])
    return Promise.resolve({ code, stdout: '', stderr })
  }
  return { calls, conntrack: new ConntrackProgram({ run }) }
}

test('flows are selected by their original destination and the endpoint that replies', async () => {
  const { calls, conntrack } = programThat(0, '')
  await conntrack.remove(flows, signal)
  deepEqual(calls, [
    [
      'conntrack',
      '-D',
      '-f',
      'ipv4',
      '-p',
      'udp',
      '--orig-dst',
      '10.96.0.10',
      '--orig-port-dst',
      '53',
      '--reply-src',
      '10.244.0.2',
      '--reply-port-src',
      '5353',
    ],
  ])
})

test('no such flows is a success; other failures are errors', async () => {
  await programThat(1, 'conntrack v1.4.7 (conntrack-tools): 0 flow entries have been deleted.\n').conntrack.remove(
    flows,
    signal,
  )
  await rejects(
    programThat(1, 'Operation not permitted').conntrack.remove(flows, signal),
    /exited with 1: Operation not/,
  )
})
