// coxswain etcd: etcd's API on a store of our own, with the flags of an etcd of one member.
import { resolve } from 'node:path'
import { joinHostPort } from '../../base/net/host-port.ts'
import { runEtcd, type EtcdAddress } from '../../cluster/run/run-etcd.ts'
import type { ListenTls } from '../../platform/http/listener.ts'
import { memberIdentity } from '../../store/etcd-server/member-identity.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { withoutEffect } from '../options/accepted-flags.ts'
import { componentLog, readOptionFile, verboseOption } from '../options/component-options.ts'
import { durationMs, historyOf, listenUrl, positiveInteger, urlsOf } from '../options/etcd-flags.ts'

const nameDefault = 'default'
const clientUrlsDefault = 'http://localhost:2379'
const peerUrlsDefault = 'http://localhost:2380'
const clusterTokenDefault = 'etcd-cluster'
const quotaBytesDefault = 2 * 1024 ** 3
const progressDefault = '10m'

export const etcd = defineCommand({
  name: 'etcd',
  summary: "serves etcd's v3 API on SQLite, for one machine, with etcd's flags",
  operands: '',
  options: {
    'data-dir': { type: 'string', value: '<directory>', help: `where the store is (<name>.etcd)` },
    store: { type: 'string', value: 'sqlite|memory', help: 'memory: nothing is kept when it stops (sqlite)' },
    'listen-client-urls': { type: 'string', value: '<urls>', help: `where clients connect (${clientUrlsDefault})` },
    'advertise-client-urls': { type: 'string', value: '<urls>', help: 'the addresses that clients are to use' },
    name: { type: 'string', value: '<name>', help: `the name of the member (${nameDefault})` },
    'cert-file': { type: 'string', value: '<file>', help: 'the certificate for https' },
    'key-file': { type: 'string', value: '<file>', help: 'its key' },
    'trusted-ca-file': { type: 'string', value: '<file>', help: 'the CA of the certificates of clients' },
    'client-cert-auth': { type: 'boolean', help: 'clients need a certificate of that CA' },
    'quota-backend-bytes': { type: 'string', value: '<bytes>', help: `the size of the file (${quotaBytesDefault})` },
    'auto-compaction-mode': {
      type: 'string',
      value: 'periodic|revision',
      help: 'what the retention counts (periodic)',
    },
    'auto-compaction-retention': {
      type: 'string',
      value: '<hours|duration|revisions>',
      help: 'the history that is kept; 0: until a client compacts it (0)',
    },
    'watch-progress-notify-interval': {
      type: 'string',
      value: '<duration>',
      help: `how often idle watches get their progress (${progressDefault})`,
    },
    'unsafe-no-fsync': { type: 'boolean', help: 'faster; a power failure loses writes or damages the file' },
    ...verboseOption,
    'initial-advertise-peer-urls': {
      type: 'string',
      value: '<urls>',
      help: 'the id of the member is derived from it',
      section: 'Others',
    },
    'initial-cluster-token': { type: 'string', value: '<token>', help: 'likewise', section: 'Others' },
    'experimental-watch-progress-notify-interval': {
      type: 'string',
      value: '<duration>',
      help: 'the former name of --watch-progress-notify-interval',
      section: 'Others',
    },
    'listen-peer-urls': withoutEffect('<urls>'),
    'initial-cluster': withoutEffect('<members>'),
    'initial-cluster-state': withoutEffect('<state>'),
    'heartbeat-interval': withoutEffect('<ms>'),
    'election-timeout': withoutEffect('<ms>'),
    'snapshot-count': withoutEffect('<count>'),
    'max-wals': withoutEffect('<count>'),
    'max-snapshots': withoutEffect('<count>'),
    'log-level': withoutEffect('<level>'),
    logger: withoutEffect('<name>'),
    'log-outputs': withoutEffect('<targets>'),
  },
  async run({ options }, terminal) {
    const { name = nameDefault, store = 'sqlite', 'listen-client-urls': listen = clientUrlsDefault } = options
    const { 'advertise-client-urls': advertise = listen, 'auto-compaction-mode': mode = 'periodic' } = options
    const { 'initial-advertise-peer-urls': peers = peerUrlsDefault, 'quota-backend-bytes': quota = '0' } = options
    const { 'auto-compaction-retention': retention = '0', 'data-dir': directory = `${name}.etcd` } = options
    const progressFlags = ['watch-progress-notify-interval', 'experimental-watch-progress-notify-interval'] as const
    const progressFlag = progressFlags.find((flag) => options[flag] !== undefined) ?? progressFlags[0]
    if (store !== 'sqlite' && store !== 'memory') throw new UsageError(`--store ${store} is none of memory, sqlite`)
    const urls = urlsOf('listen-client-urls', listen).map(listenUrl)
    const tls = urls.some(({ isEncrypted }) => isEncrypted) ? await tlsOf(options) : undefined
    const log = componentLog(options.verbose, terminal)
    const addresses = urls.map(({ host, port, isEncrypted }): EtcdAddress => ({
      host,
      port,
      tls: isEncrypted ? tls : undefined,
    }))
    const { 'client-cert-auth': requiresCertificate = false, 'trusted-ca-file': authority } = options
    if (requiresCertificate && authority === undefined)
      throw new UsageError('--client-cert-auth needs --trusted-ca-file')
    await runEtcd(
      {
        dataDirectory: store === 'memory' ? undefined : resolve(directory),
        listen: addresses,
        requiresCertificate,
        identity: memberIdentity(
          {
            name,
            peerUrls: originsOf('initial-advertise-peer-urls', peers),
            clientUrls: originsOf('advertise-client-urls', advertise),
          },
          options['initial-cluster-token'] ?? clusterTokenDefault,
        ),
        history: historyOf(mode, retention),
        fileBytesMax: positiveInteger('quota-backend-bytes', quota) || quotaBytesDefault,
        syncs: options['unsafe-no-fsync'] !== true,
        progressMs: durationMs(progressFlag, options[progressFlag] ?? progressDefault),
        log,
        onReady: (listeners) => {
          const served = listeners.map(({ host, port }) => joinHostPort(host, port))
          terminal.out(`ready to serve client requests on ${served.join(', ')}\n`)
        },
      },
      terminal.signal,
    )
    return 0
  },
})

const originsOf = (flag: string, text: string): string[] => urlsOf(flag, text).map(({ origin }) => origin)

type TlsFlags = Readonly<Partial<Record<'cert-file' | 'key-file' | 'trusted-ca-file', string>>>

async function tlsOf(flags: TlsFlags): Promise<ListenTls> {
  const { 'cert-file': certificate, 'key-file': key, 'trusted-ca-file': authority } = flags
  if (certificate === undefined || key === undefined) throw new UsageError('https needs --cert-file and --key-file')
  const read = (flag: string, path: string) => readOptionFile(`the file of --${flag}`, path)
  return {
    certificate: await read('cert-file', certificate),
    key: await read('key-file', key),
    clientAuthorities: authority === undefined ? {} : { users: await read('trusted-ca-file', authority) },
  }
}
