// The files that coxswain creates in a data directory. Nothing else in it is ever removed.
import { encryptionConfigFile } from '../policy/encryption-at-rest.ts'

export const markerName = 'coxswain.json'

/** The output of a cluster in the background. It is written before the directory is opened, so it is never a user's file. */
export const outputName = 'up.log'

/** The last messages between components, if they are kept across restarts. */
export const flowRecordFile = 'flow-record.jsonl'

export const storeFiles = ['store.db', 'store.db-wal', 'store.db-shm', 'store.db-lock'] as const

/** The authorities and the key of ServiceAccount tokens: the identity of a cluster. */
export const identityFiles = ['ca.crt', 'ca.key', 'front-proxy-ca.crt', 'front-proxy-ca.key', 'sa.key'] as const

const issued = [
  'apiserver-etcd-client',
  'apiserver-kubelet-client',
  'controller-manager',
  'front-proxy-client',
  'kubelet',
  'scheduler',
]

/** A file that exists only after a start. It identifies the directory of an older version without a marker. */
export const legacySign = 'pki/apiserver-kubelet-client.key'

export const clusterFiles: readonly string[] = [
  ...storeFiles,
  ...['', '-journal', '-wal', '-shm'].map((suffix) => `store.db-new${suffix}`),
  'store.db.before-etcd',
  'store.db.before-restore',
  'store.db.kept',
  ...storeFiles.map((name) => name.replace('store.db', 'store.db.fresh')),
  ...identityFiles.map((name) => `pki/${name}`),
  `pki/${encryptionConfigFile}`,
  ...issued.flatMap((name) => [`pki/${name}.crt`, `pki/${name}.key`]),
  'admin.kubeconfig',
  'admin.kubeconfig.lock',
  'controller-manager.kubeconfig',
  'scheduler.kubeconfig',
  flowRecordFile,
  outputName,
]

/** The data of etcd before the cluster moved to SQLite. */
export const etcdBeforeSqlite = 'etcd.before-sqlite'

/** Directories that are ours with everything in them. `pki` is not, because it may contain a user's own authority. */
export const clusterDirectories: readonly string[] = [
  'etcd',
  etcdBeforeSqlite,
  'node',
  'pki/etcd',
  'pki.before-restore',
  'pki.fresh',
]

/** The API servers that a node knew when it stopped. */
export const knownServersFile = 'servers.json'

export const kubeletFiles: readonly string[] = [
  knownServersFile,
  'kubelet.kubeconfig',
  'pki/kubelet-client-current.pem',
  'pki/kubelet-client.key.tmp',
  'pki/kubelet-server-current.pem',
]

/** Files with keys or Secrets. admin.kubeconfig is not checked: every start replaces it, readable by its owner only. */
export const isPrivate = (name: string): boolean =>
  /\.(key|pem)$|^store\.db(?!-lock)/.test(name) || (name.endsWith('.kubeconfig') && name !== 'admin.kubeconfig')

/** Temporary files that a crash during an atomic write or a snapshot leaves. */
export const isLeftoverOf = (name: string, file: string): boolean =>
  name.startsWith(`${file}.`) && /^\.(\d+\.\d+\.tmp|snapshot-\d+(-new)?(-\w+)?)$/.test(name.slice(file.length))
