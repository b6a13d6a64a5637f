// The members of etcd as a table (`coxswain member list`) and as one line (`coxswain status`).
import type { MemberReport } from '../../cluster/etcd/member-report.ts'
import { textTable } from './text-table.ts'

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`

const tableHead = ['NAME', 'ENDPOINT', 'STATE', 'VERSION', 'SIZE', 'IN USE', 'ALARMS'] as const

export const memberTable = (reports: readonly MemberReport[]): string => textTable([tableHead, ...reports.map(cellsOf)])

function cellsOf({ name, endpoint, state, alarms }: MemberReport): readonly string[] {
  const shown = [name, endpoint || '<none>']
  const alarmText = alarms.join(', ') || '<none>'
  if (state.kind !== 'running') return [...shown, state.kind, '<unknown>', '<unknown>', '<unknown>', alarmText]
  return [...shown, state.role, state.version, megabytes(state.bytes), megabytes(state.bytesInUse), alarmText]
}

export function membersText(reports: readonly MemberReport[]): string {
  const running = reports.flatMap(({ name, state }) => (state.kind === 'running' ? [{ name, ...state }] : []))
  const missing = reports.filter(({ state }) => state.kind !== 'running')
  const leader = running.find(({ role }) => role === 'leader')
  const largest = running.toSorted((a, b) => b.bytes - a.bytes)[0]
  const alarms = reports.flatMap((each) => each.alarms.map((alarm) => `${alarm} (${each.name})`))
  return [
    `${running.length} of ${reports.length} members respond`,
    leader === undefined ? 'no leader' : `leader ${leader.name}`,
    ...missing.map(({ name, state }) => `${name} is ${state.kind}`),
    ...(largest === undefined ? [] : [`${megabytes(largest.bytes)}, ${megabytes(largest.bytesInUse)} in use`]),
    ...(alarms.length === 0 ? [] : [`alarms: ${alarms.join(', ')}`]),
  ].join('; ')
}
