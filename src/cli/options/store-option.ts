// --store and its options: the store that a command uses. The etcd flags have upstream's names.
import { hostOfUrl, isLoopbackHost } from '../../base/net/host-port.ts'
import type { EtcdChoice, StoreChoice } from '../../cluster/data-directory/open-store.ts'
import { UsageError } from '../command/command.ts'

export const etcdTlsOptions = {
  'etcd-cafile': { type: 'string', value: '<file>', help: "the CA of etcd's certificates", section: 'etcd' },
  'etcd-certfile': { type: 'string', value: '<file>', help: 'the client certificate for etcd', section: 'etcd' },
  'etcd-keyfile': { type: 'string', value: '<file>', help: 'the key of that certificate', section: 'etcd' },
} as const

export const storeOptions = {
  store: { type: 'string', value: 'sqlite|memory|etcd=<urls>', help: 'where objects are stored (sqlite)' },
  ...etcdTlsOptions,
} as const

type EtcdTlsFlags = { readonly [Name in keyof typeof etcdTlsOptions]?: string | undefined }
type StoreFlags = { readonly [Name in keyof typeof storeOptions]?: string | undefined }

export function storeChoiceOf(flags: StoreFlags): StoreChoice {
  const { store = 'sqlite' } = flags
  if (store === 'memory' || store === 'sqlite') return { kind: store }
  const urls = /^etcd=(.+)$/.exec(store)?.[1]
  if (urls === undefined) throw new UsageError(`--store ${store} is none of memory, sqlite, etcd=<urls>`)
  return etcdChoiceOf('--store etcd', urls, flags)
}

/** `flag` names the addresses in errors. */
export function etcdChoiceOf(flag: string, urls: string, flags: EtcdTlsFlags): EtcdChoice {
  const tlsPaths = { authority: flags['etcd-cafile'], certificate: flags['etcd-certfile'], key: flags['etcd-keyfile'] }
  if ((tlsPaths.certificate === undefined) !== (tlsPaths.key === undefined))
    throw new UsageError('--etcd-certfile and --etcd-keyfile belong together')
  return { kind: 'etcd', endpoints: urls.split(',').map((url) => checkedEndpoint(flag, url)), tlsPaths }
}

function checkedEndpoint(flag: string, text: string): string {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.pathname !== '/')
    throw new UsageError(`${flag}: ${JSON.stringify(text)} is not like https://10.0.0.1:2379`)
  // Over an unencrypted connection all Secrets could be read.
  if (url.protocol === 'http:' && !isLoopbackHost(hostOfUrl(url)))
    throw new UsageError(`${flag}: ${text}: without TLS only an etcd on this machine is used`)
  return url.origin
}
