// The clients that endpoints with session affinity serve. The kernel adds them to sets, so they are read from it before the
// table is replaced, and added to the new one.
import type { CommandText } from '../../base/net/command-text.ts'
import { setCommands } from '../../machine/nftables/table-content.ts'
import type { Nftables } from '../../machine/nftables/nftables.ts'
import { presenceCommands, table } from './table-layout.ts'

/** About one second. Clients of further sets are forgotten. */
const setsMax = 2_000

/** Commands that add the clients to new sets of the same names, with the time that is left to them. */
export async function knownClientCommands(
  nftables: Nftables,
  sets: readonly CommandText[],
): Promise<readonly CommandText[]> {
  if (sets.length === 0 || (await nftables.apply(presenceCommands)).kind === 'failed') return []
  const commands: CommandText[] = []
  for (const set of sets.slice(0, setsMax))
    commands.push(...setCommands(table, 'add', set, (await nftables.elements(table, set)) ?? []))
  return commands
}
