// ZoneAnswer: what the zone of a cluster responds to a question.
import type { ResourceRecord } from '../message/record.ts'

/** The response to a question. `records` begins with the aliases that were followed. */
export type ZoneAnswer =
  | {
      readonly kind: 'records'
      readonly records: readonly ResourceRecord[]
      /** Addresses of the targets of SRV records. */
      readonly additional: readonly ResourceRecord[]
    }
  /** The name exists but has no records of the type. */
  | { readonly kind: 'no-data'; readonly records: readonly ResourceRecord[] }
  /** The name does not exist (NXDOMAIN). */
  | { readonly kind: 'no-name'; readonly records: readonly ResourceRecord[] }
  /** The name belongs to another zone, or an alias leads to `name` in another zone. */
  | { readonly kind: 'elsewhere'; readonly records: readonly ResourceRecord[]; readonly name: string }
  /** ExternalName Services refer to one another in a circle, or in a longer chain than is followed. */
  | { readonly kind: 'alias-loop' }
