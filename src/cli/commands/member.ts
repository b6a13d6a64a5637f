// coxswain member: the members of etcd beside the servers of a control plane.
import { memberAdmin, ownMember } from '../../cluster/data-directory/member-admin.ts'
import { defragmentationOrder, memberReports, type MemberReport } from '../../cluster/etcd/member-report.ts'
import type { EtcdAdmin } from '../../store/etcd/etcd-admin.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { dataDirectoryOf, dataDirectoryOptions } from '../options/data-directory-option.ts'
import { memberTable } from '../output/member-rows.ts'

const operandsText = 'list|remove <name>|defragment [<name>]'

export const member = defineCommand({
  name: 'member',
  summary: 'lists, removes and defragments the members of etcd beside the servers ("coxswain server")',
  operands: operandsText,
  operandValues: () => ['list', 'remove', 'defragment'],
  operandsMax: 2,
  options: dataDirectoryOptions,
  async run({ operands: [action = '', name], options }, { out, environment, signal }) {
    const hasName = name !== undefined
    const isKnown = action === 'defragment' || (action === 'list' && !hasName) || (action === 'remove' && hasName)
    if (!isKnown) throw new UsageError(`the operands are: ${operandsText}`)
    const directory = dataDirectoryOf(options, environment)
    const own = await ownMember(directory)
    using admin = await memberAdmin(directory, own.endpoints)
    const reports = await memberReports(admin, signal)
    if (action === 'list') out(memberTable(reports))
    else if (action === 'remove') await remove(named(reports, name), own.name, { admin, out }, signal)
    else await defragment(hasName ? [named(reports, name)] : reports, { admin, out }, signal)
    return 0
  },
})

interface Deps {
  readonly admin: EtcdAdmin
  readonly out: (text: string) => void
}

function named(reports: readonly MemberReport[], name: string | undefined): MemberReport {
  const found = reports.find((each) => each.name === name)
  if (found !== undefined) return found
  throw new UsageError(
    `there is no member ${JSON.stringify(name)}; there are: ${reports.map((each) => each.name).join(', ')}`,
  )
}

async function remove(
  { id, name }: MemberReport,
  own: string,
  { admin, out }: Deps,
  signal: AbortSignal,
): Promise<void> {
  if (name === own)
    throw new UsageError(
      `${name} is the member of this machine; to remove this server: coxswain down, then coxswain reset`,
    )
  await admin.remove(id, signal)
  out(`member ${name} removed\n`)
}

async function defragment(reports: readonly MemberReport[], { admin, out }: Deps, signal: AbortSignal): Promise<void> {
  const chosen = defragmentationOrder(reports)
  if (chosen.length === 0) throw new Error('no member responds')
  for (const { name, endpoint, state } of chosen) {
    const before = state.kind === 'running' ? state.bytes : 0
    await admin.defragment(endpoint, signal)
    const { dbSize } = await admin.status(endpoint, signal)
    out(`${name}: ${mebibytes(before)} before, ${mebibytes(dbSize)} now\n`)
  }
  // A full member rejects writes until its alarm is cleared. It raises it again if there is still no space.
  for (const alarm of await admin.alarms(signal)) if (alarm.alarm === 'NOSPACE') await admin.clearAlarm(alarm, signal)
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`
