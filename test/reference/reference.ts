// The derivations of a schema as interpreters: simple and slow. Tests and the benchmark compare the compiled ones with
// them.
export { decode } from './decode.ts'
export { withDefaults } from './defaults.ts'
export { decodeProtobuf } from './protobuf.ts'
export { encodeProtobuf } from './protobuf-encode.ts'
export { validateFields } from './validate.ts'
