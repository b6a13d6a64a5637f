// Clients use the first address, so the order of addresses is random in every response.
import type { Random } from '../../base/random/random.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'

/** More addresses do not fit into a message. */
const shuffledMax = 4_096

/** Aliases stay before the records of their targets; records of mixed types keep their order. */
export function shuffled(records: readonly ResourceRecord[], random: Random): readonly ResourceRecord[] {
  if (records.length < 2) return records
  const start = records.findIndex(({ type }) => type !== recordType.CNAME)
  const { type } = records[start] ?? {}
  if (start < 0 || records.some((record, index) => index > start && record.type !== type)) return records
  const result = [...records]
  const end = Math.min(result.length - 1, start + shuffledMax)
  for (let at = start; at < end; at++) {
    const other = at + random.below(result.length - at)
    const chosen = result[other] as ResourceRecord
    result[other] = result[at] as ResourceRecord
    result[at] = chosen
  }
  return result
}
