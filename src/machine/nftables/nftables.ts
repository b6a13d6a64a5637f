// Nftables: the packet filter of the host, changed by transactions. A transaction is a list of commands in nft's language;
// the kernel applies all of them or none.
import type { CommandText } from '../../base/net/command-text.ts'

export type TransactionResult =
  | { readonly kind: 'applied' }
  /** Nothing was changed. `messages` are nft's, one for each command that failed. */
  | { readonly kind: 'failed'; readonly messages: readonly string[] }

export interface Nftables extends AsyncDisposable {
  /** Applies the commands. Transactions are applied in the order of the calls. */
  apply(commands: readonly CommandText[]): Promise<TransactionResult>
  /** The output of a `list` command; undefined if the object does not exist. */
  list(command: CommandText): Promise<string | undefined>
  /** The elements of a set, in nft's language and with the time until they expire; undefined if it does not exist. */
  elements(table: CommandText, set: CommandText): Promise<readonly CommandText[] | undefined>
}
