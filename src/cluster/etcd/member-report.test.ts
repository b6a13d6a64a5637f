import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { EtcdMember } from '../../store/etcd/etcd-admin-messages.ts'
import { defragmentationOrder, memberReports, type ReportingAdmin } from './member-report.ts'

const { signal } = new AbortController()
const member = (id: bigint, name: string, isLearner = false): EtcdMember => ({
  id,
  name,
  peerUrls: [`https://10.0.0.${id}:2380`],
  clientUrls: name === '' ? [] : [`https://10.0.0.${id}:2379`],
  isLearner,
})
const status = {
  version: '3.5.16',
  dbSize: 8,
  dbSizeInUse: 4,
  leader: 2n,
  isLearner: false,
  errors: [],
  header: undefined,
}
const admin: ReportingAdmin = {
  members: async () => [member(4n, 'd', true), member(2n, 'b'), member(1n, 'a'), member(3n, '')],
  alarms: async () => [{ memberId: 1n, alarm: 'NOSPACE' }],
  status: async (endpoint) => {
    if (endpoint.includes('10.0.0.1')) throw new Error('connection refused')
    return { ...status, isLearner: endpoint.includes('10.0.0.4') }
  },
}

test('each member is reported with its role and its alarms; one that is missing does not hide the others', async () => {
  const reports = await memberReports(admin, signal)
  const numbers = { version: '3.5.16', bytes: 8, bytesInUse: 4 }
  deepEqual(
    reports.map(({ name, state, alarms }) => [name, state, alarms]),
    [
      ['a', { kind: 'not responding', why: 'connection refused' }, ['NOSPACE']],
      ['b', { kind: 'running', role: 'leader', ...numbers }, []],
      ['d', { kind: 'running', role: 'learner', ...numbers }, []],
      ['https://10.0.0.3:2380', { kind: 'not started' }, []],
    ],
  )
  deepEqual(
    defragmentationOrder(reports).map(({ name }) => name),
    ['d', 'b'],
  )
})
