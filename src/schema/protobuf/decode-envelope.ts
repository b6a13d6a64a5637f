// The envelope of Kubernetes objects in protobuf: four bytes, then runtime.Unknown with the kind and the object's bytes.
import { ProtobufError, ProtobufReader } from './protobuf-reader.ts'

/** The four bytes before every Kubernetes object in protobuf. */
const magic = [0x6b, 0x38, 0x73, 0x00]

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
}

/** Opens runtime.Unknown: which kind it is, and its bytes. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw new ProtobufError('the body does not begin with the protobuf prefix "k8s\\x00"')
  const reader = new ProtobufReader(bytes.subarray(magic.length))
  let apiVersion = ''
  let kind = ''
  let raw = new Uint8Array()
  while (reader.at < reader.end) {
    const key = reader.uint32()
    if (key === 0x0a)
      for (const end = reader.messageEnd(reader.end); reader.at < end;) {
        const inner = reader.uint32()
        if (inner === 0x0a) apiVersion = reader.text()
        else if (inner === 0x12) kind = reader.text()
        else reader.skip(inner)
      }
    else if (key === 0x12) raw = new Uint8Array(reader.bytes())
    else reader.skip(key)
  }
  return { apiVersion, kind, raw }
}
