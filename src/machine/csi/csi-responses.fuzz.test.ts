// Responses of CSI drivers: whatever a driver sends is decoded to a value of the response's type or rejected with the
// error of the protobuf reader; what is encoded decodes to the same value.
import { deepEqual, ok } from 'node:assert/strict'
import { lookup } from '../../base/collections/lookup.ts'
import { fuzz, mutatedBytes, pick, rejectedOnlyWith } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import { ProtobufError } from '../../schema/protobuf/protobuf-reader.ts'
import { decodeProto } from '../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import type { ElementType, Field, Message } from '../../wire/protobuf/proto-message.ts'
import { controllerService, identityService, nodeService, registrationService } from './methods.ts'

const responses: readonly Message[] = [controllerService, identityService, nodeService, registrationService].flatMap(
  (service) => Object.values(service).map(({ response }) => response),
)

type Decoded = ReturnType<typeof decodeProto>

const names = ['', 'a', 'é', '__proto__', 'constructor', 'topology.csi/zone']

function randomElement(type: ElementType, random: Random): unknown {
  if (typeof type === 'object') return type.kind === 'message' ? randomMessage(type, random) : pick(random, type.names)
  switch (type) {
    case 'string':
      return pick(random, names)
    case 'bytes':
      return random.bytes(random.below(8))
    case 'bool':
      return random.below(2) === 0
    case 'int64Big':
    case 'uint64Big':
      return BigInt(random.below(1_000))
    default:
      return random.below(1_000)
  }
}

function randomField({ type, label }: Field, random: Random): unknown {
  const one = () => randomElement(type, random)
  if (label === 'repeated') return Array.from({ length: random.below(4) }, one)
  if (label === 'map')
    return Object.fromEntries(Array.from({ length: random.below(4) }, () => [pick(random, names), one()]))
  return label === 'optional' && random.below(3) === 0 ? undefined : one()
}

const randomMessage = ({ fields }: Message, random: Random): Decoded =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, randomField(field, random)])) as Decoded

const isElement = (type: ElementType, value: unknown): boolean => {
  if (typeof type === 'object')
    return type.kind === 'message' ? isMessage(type, value) : type.names.includes(value as string)
  switch (type) {
    case 'string':
      return typeof value === 'string'
    case 'bytes':
      return value instanceof Uint8Array
    case 'bool':
      return typeof value === 'boolean'
    case 'int64Big':
    case 'uint64Big':
      return typeof value === 'bigint'
    default:
      return typeof value === 'number'
  }
}

function isField({ type, label }: Field, value: unknown): boolean {
  if (label === 'repeated') return Array.isArray(value) && value.every((one) => isElement(type, one))
  if (label === 'map') return Object.values(value as object).every((one) => isElement(type, one))
  return (label === 'optional' && value === undefined) || isElement(type, value)
}

const isMessage = ({ fields }: Message, value: unknown): boolean =>
  Object.entries(fields).every(([name, field]) => isField(field, lookup(value as Decoded, name)))

fuzz('responses of CSI drivers', {
  runs: 3_000,
  make(random) {
    const message = pick(random, responses)
    return { message, value: randomMessage(message, random) }
  },
  check({ message, value }, random) {
    const good = encodeProto(message, value)
    const decoded = decodeProto(message, good)
    ok(isMessage(message, decoded), 'the decoded value has the type of the response')
    deepEqual(encodeProto(message, decoded).toHex(), good.toHex())
    const broken = rejectedOnlyWith([ProtobufError], () => decodeProto(message, mutatedBytes(good, random)))
    ok(broken === undefined || isMessage(message, broken), 'a damaged response has the type of the response')
  },
})

fuzz('random bytes as responses of CSI drivers', {
  runs: 3_000,
  make: (random) => ({ message: pick(random, responses), bytes: random.bytes(random.below(64)) }),
  check({ message, bytes }) {
    const decoded = rejectedOnlyWith([ProtobufError], () => decodeProto(message, bytes))
    ok(decoded === undefined || isMessage(message, decoded), 'the value has the type of the response')
  },
})
