import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { MemberReport } from '../../cluster/etcd/member-report.ts'
import { membersText, memberTable } from './member-rows.ts'

const megabyte = 2 ** 20
const running = (id: bigint, role: 'leader' | 'follower' | 'learner', megabytes: number): MemberReport => ({
  id,
  name: `m${id}`,
  endpoint: `https://10.0.0.${id}:2379`,
  state: { kind: 'running', role, version: '3.5.16', bytes: megabytes * megabyte, bytesInUse: megabyte / 2 },
  alarms: [],
})
const all: readonly MemberReport[] = [
  running(1n, 'leader', 4),
  { ...running(2n, 'follower', 20), alarms: ['NOSPACE'] },
  { id: 3n, name: 'https://10.0.0.3:2380', endpoint: '', state: { kind: 'not started' }, alarms: [] },
  { ...running(4n, 'follower', 1), state: { kind: 'not responding', why: 'connection refused' } },
]

test('the members as a table', () =>
  equal(
    memberTable(all),
    `NAME                    ENDPOINT                STATE            VERSION     SIZE        IN USE      ALARMS
m1                      https://10.0.0.1:2379   leader           3.5.16      4.0 MB      0.5 MB      <none>
m2                      https://10.0.0.2:2379   follower         3.5.16      20.0 MB     0.5 MB      NOSPACE
https://10.0.0.3:2380   <none>                  not started      <unknown>   <unknown>   <unknown>   <none>
m4                      https://10.0.0.4:2379   not responding   <unknown>   <unknown>   <unknown>   <none>
`,
  ))

const lines: readonly [name: string, reports: readonly MemberReport[], text: string][] = [
  ['all respond', [running(1n, 'leader', 4)], '1 of 1 members respond; leader m1; 4.0 MB, 0.5 MB in use'],
  [
    'some do not',
    all,
    '2 of 4 members respond; leader m1; https://10.0.0.3:2380 is not started; m4 is not responding; 20.0 MB, 0.5 MB in use; alarms: NOSPACE (m2)',
  ],
  ['no leader', [running(1n, 'follower', 4)], '1 of 1 members respond; no leader; 4.0 MB, 0.5 MB in use'],
  ['none', [], '0 of 0 members respond; no leader'],
]
for (const [name, reports, text] of lines)
  test(`the members as one line: ${name}`, () => equal(membersText(reports), text))
