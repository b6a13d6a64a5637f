// The derivations of a schema as interpreters: plain and slow. Tests compare the compiled ones with them, the bench too.
export { decode } from './decode.ts'
export { withDefaults } from './defaults.ts'
export { decodeProtobuf } from './protobuf.ts'
export { encodeProtobuf } from './protobuf-encode.ts'
export { validateFields } from './validate.ts'
