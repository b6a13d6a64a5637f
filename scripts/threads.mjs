// The modules that run in threads: the name of each, and its source.
export const threads = {
  'disk-thread': 'store/sqlite/disk-thread.ts',
  'offload-thread': 'platform/node/process/offload-thread.ts',
  'snapshot-thread': 'store/sqlite/snapshot-thread.ts',
  'tls-thread': 'platform/node/tls-thread/tls-thread.ts',
  'yaml-to-json': 'apiserver/http/yaml-to-json.ts',
}
