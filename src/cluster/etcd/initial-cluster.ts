// InitialCluster: the members that etcd is started with the first time. Names and URLs of members come from other machines
// and become part of an argument, so they are parsed.
import type { Brand } from '../../base/brand.ts'
import { hostOfUrl } from '../../base/net/host-port.ts'
import { parseIp } from '../../base/net/ip-address.ts'

export type MemberName = Brand<string, 'MemberName'>
export type PeerUrl = Brand<string, 'PeerUrl'>

export interface InitialCluster {
  readonly state: 'new' | 'existing'
  readonly members: readonly { readonly name: MemberName; readonly peerUrl: PeerUrl }[]
}

const namePattern = /^[A-Za-z0-9][-._A-Za-z0-9]{0,254}$/

export function parseMemberName(text: string): MemberName {
  if (!namePattern.test(text)) throw new Error(`${JSON.stringify(text)} is not the name of a member of etcd`)
  return text as MemberName
}

/** `https://<address>:<port>`. */
export function parsePeerUrl(text: string): PeerUrl {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.origin !== text || parseIp(hostOfUrl(url)) === undefined)
    throw new Error(`${JSON.stringify(text)} is not the address of a member of etcd, such as https://192.0.2.1:2380`)
  return text as PeerUrl
}
