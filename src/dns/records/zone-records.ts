// Constructors of the zone's records, with its times to live.
import { familyOf } from '../../base/net/address-family.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'

export const zoneTimes = {
  /** How long clients may cache a record; kubeadm configures CoreDNS with the same value. */
  ttlSeconds: 30,
  /** How long clients may cache that a name does not exist. */
  negativeTtlSeconds: 5,
} as const

const { ttlSeconds } = zoneTimes

export const addressRecord = (name: string, address: string): ResourceRecord => ({
  name,
  type: addressType(address),
  ttlSeconds,
  data: { kind: 'address', address },
})

export const addressType = (address: string): number => (familyOf(address) === 'IPv6' ? recordType.AAAA : recordType.A)

export const nameRecord = (type: number, name: string, target: string): ResourceRecord => ({
  name,
  type,
  ttlSeconds,
  data: { kind: 'name', target },
})

export const locationRecord = (name: string, weight: number, port: number, target: string): ResourceRecord => ({
  name,
  type: recordType.SRV,
  ttlSeconds,
  data: { kind: 'location', priority: 0, weight, port, target },
})
