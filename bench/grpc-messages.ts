// Cost of gRPC messages: an etcd transaction with one object, and a page of a range.
import { rangeMethod, txnMethod } from '../src/store/etcd/etcd-messages.ts'
import { decodeProto } from '../src/wire/protobuf/decode-proto.ts'
import { encodeProto } from '../src/wire/protobuf/encode-proto.ts'
import { nanosecondsPer, type Bench } from './bench.ts'

const key = '/registry/pods/default/web-6d4cf56db6-7xk2p'
const value = new Uint8Array(1_500).fill(0x61)
const transaction = {
  compare: [{ target: 'MOD', key, modRevision: 12_345 }],
  success: [{ requestPut: { key, value } }],
} as const
const page = {
  header: { revision: 123_456, raftTerm: 3 },
  kvs: Array.from({ length: 100 }, (_, index) => ({
    key: `${key}-${index}`,
    createRevision: 1_000 + index,
    modRevision: 20_000 + index,
    version: 2,
    value,
  })),
  count: 100,
}

const shown = (what: string, calls: number, work: () => unknown): string => {
  const nanoseconds = nanosecondsPer(calls, (count) => {
    for (let index = 0; index < count; index++) work()
  })
  return `${what}: ${(nanoseconds / 1_000).toFixed(1)} µs`
}

export const grpcMessagesBench: Bench = {
  name: 'grpc-messages',
  run() {
    const bytes = encodeProto(rangeMethod.response, page)
    return [
      shown('a transaction that puts 1.5 KB: encode', 20_000, () => encodeProto(txnMethod.request, transaction)),
      shown('a range response with 100 such items: encode', 2_000, () => encodeProto(rangeMethod.response, page)),
      shown('a range response with 100 such items: decode', 2_000, () => decodeProto(rangeMethod.response, bytes)),
    ]
  },
}
