// The member as a process: its arguments, and when it is restarted, with a process that is simulated.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { clientUrlOf, etcdArguments, EtcdMember, logText, peerUrlOf, type EtcdMemberDeps } from './etcd-member.ts'
import { parseMemberName } from './initial-cluster.ts'

const { signal } = new AbortController()
const address = mustParseIp('192.0.2.1')
const name = parseMemberName('a-1')
const options = {
  executable: { path: '/usr/bin/etcd', version: '3.5.16' },
  directory: '/data/etcd',
  pki: '/data/pki',
  name,
  address,
  initial: {
    state: 'existing',
    members: [
      { name: parseMemberName('b-2'), peerUrl: peerUrlOf(mustParseIp('fd00::2')) },
      { name, peerUrl: peerUrlOf(address) },
    ],
  },
} as const

test('a member requires certificates of all who connect', () => {
  const flags = etcdArguments(options)
  for (const flag of [
    '--name=a-1',
    '--data-dir=/data/etcd/data',
    '--listen-client-urls=https://192.0.2.1:2379',
    '--listen-peer-urls=https://192.0.2.1:2380',
    '--initial-cluster=b-2=https://[fd00::2]:2380,a-1=https://192.0.2.1:2380',
    '--initial-cluster-state=existing',
    '--client-cert-auth=true',
    '--peer-client-cert-auth=true',
    '--trusted-ca-file=/data/pki/etcd/ca.crt',
    '--peer-trusted-ca-file=/data/pki/etcd/ca.crt',
  ])
    equal(flags.includes(flag), true, flag)
  equal(clientUrlOf(mustParseIp('fd00::2')), 'https://[fd00::2]:2379')
})

const lines: readonly [line: string, text: string][] = [
  ['{"level":"fatal","msg":"discovery failed","error":"no such host"}', 'discovery failed: no such host'],
  ['{"level":"warn","msg":"slow","took":"1s"}', 'slow'],
  ['{"level":"warn"}', '{"level":"warn"}'],
  ['flag provided but not defined: -x', 'flag provided but not defined: -x'],
]
for (const [line, text] of lines) test(`a line of its log: ${text}`, () => equal(logText(line), text))

/** Processes that end when the test says so, and at a signal. */
function simulated(clock: VirtualClock) {
  const written = new Map<string, string>()
  const running: { pid: number; end: (code: number) => void; print: (line: string) => void; signals: string[] }[] = []
  const deps: EtcdMemberDeps = {
    clock,
    log: silentLog,
    files: {
      makeDirectory: async () => {},
      read: async () => undefined,
      write: async (path: string, text: string) => void written.set(path, text),
      remove: async (path: string) => void written.delete(path),
    } as unknown as EtcdMemberDeps['files'],
    processes: {
      signal: () => {},
      run: () => Promise.reject(new Error('not used')),
      start: (_command, _args, _options, onLine) => {
        const { promise, resolve } = Promise.withResolvers<number>()
        const process = { pid: running.length + 100, end: resolve, print: onLine, signals: [] as string[] }
        running.push(process)
        const kill = (what: string) => {
          process.signals.push(what)
          resolve(0)
        }
        return { pid: process.pid, ended: promise, kill }
      },
    },
  }
  return { deps, running, written }
}

test('a member that exits is started again, ever later; a stop ends it', async () => {
  const clock = new VirtualClock()
  const { deps, running, written } = simulated(clock)
  const member = await EtcdMember.start(options, deps, signal)
  await clock.advance(1)
  equal(written.get('/data/etcd/etcd.pid'), '100')
  const waits: number[] = []
  for (let exits = 1; exits <= 8; exits++) {
    running.at(-1)?.print('{"msg":"panic","error":"disk"}')
    running.at(-1)?.end(2)
    const sinceMs = clock.nowMs()
    while (running.length === exits) await clock.advance(100)
    waits.push(clock.nowMs() - sinceMs)
  }
  deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  deepEqual([member.exits, member.lastLine], [8, 'panic: disk'])
  // It ran for a while: the next restart is soon.
  await clock.advance(61_000)
  running.at(-1)?.end(2)
  await clock.advance(500)
  equal(running.length, 10)
  equal(written.get('/data/etcd/etcd.pid'), '109')
  await member[Symbol.asyncDispose]()
  deepEqual(running.at(-1)?.signals, ['SIGTERM'])
  equal(written.size, 0)
  await clock.advance(60_000)
  equal(running.length, 10)
})

test('a stop while it waits for the next start starts nothing', async () => {
  const clock = new VirtualClock()
  const { deps, running } = simulated(clock)
  const member = await EtcdMember.start(options, deps, signal)
  await clock.advance(1)
  running[0]?.end(1)
  await clock.advance(100)
  await member[Symbol.asyncDispose]()
  await clock.advance(60_000)
  equal(running.length, 1)
})
