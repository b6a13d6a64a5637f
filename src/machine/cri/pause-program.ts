// The program of the sandbox container: it holds the pod's namespaces, collects orphaned processes and does nothing
// else. A few instructions, so that a sandbox needs no image from anywhere: an ELF file written out by hand.
//
//   again: wait4(-1, 0, 0, 0)        blocks while there are children, and collects them
//          if it succeeded: again
//          poll(0, 0, 1000)          no children: check again after a second
//          again
import { concatBytes } from '../../base/collections/concat-bytes.ts'

export type PauseArchitecture = 'amd64' | 'arm64'

const words = (...numbers: readonly number[]): Uint8Array => {
  const bytes = new DataView(new ArrayBuffer(numbers.length * 4))
  for (const [index, number] of numbers.entries()) bytes.setUint32(index * 4, number, true)
  return new Uint8Array(bytes.buffer)
}

const code: Readonly<Record<PauseArchitecture, { readonly machine: number; readonly text: Uint8Array }>> = {
  amd64: {
    machine: 62,
    text: Uint8Array.of(
      // prettier-ignore
      ...[0x48, 0xc7, 0xc7, 0xff, 0xff, 0xff, 0xff], // mov rdi, -1
      ...[0x31, 0xf6], // xor esi, esi
      ...[0x31, 0xd2], // xor edx, edx
      ...[0x45, 0x31, 0xd2], // xor r10d, r10d
      ...[0xb8, 61, 0, 0, 0], // mov eax, wait4
      ...[0x0f, 0x05], // syscall
      ...[0x48, 0x85, 0xc0], // test rax, rax
      ...[0x79, 0xe6], // jns again
      ...[0x31, 0xff], // xor edi, edi
      ...[0x31, 0xf6], // xor esi, esi
      ...[0xba, 0xe8, 0x03, 0, 0], // mov edx, 1000
      ...[0xb8, 7, 0, 0, 0], // mov eax, poll
      ...[0x0f, 0x05], // syscall
      ...[0xeb, 0xd4], // jmp again
    ),
  },
  arm64: {
    machine: 183,
    text: words(
      0x92800000, // mov x0, -1
      0xd2800001, // mov x1, 0
      0xd2800002, // mov x2, 0
      0xd2800003, // mov x3, 0
      0xd2802088, // mov x8, wait4 (260)
      0xd4000001, // svc 0
      0xf100001f, // cmp x0, 0
      0x54ffff2a, // b.ge again
      0xd2800000, // mov x0, 0
      0xd2800001, // mov x1, 0
      0x10000102, // adr x2, second
      0xd2800003, // mov x3, 0
      0xd2800004, // mov x4, 0
      0xd2800928, // mov x8, ppoll (73)
      0xd4000001, // svc 0
      0x17fffff1, // b again
      ...[0, 0], // padding: `second` is aligned to 8 bytes
      ...[1, 0, 0, 0], // second: { 1 s, 0 ns }
    ),
  },
}

const loadAddress = 0x400000
const elfHeaderBytes = 64
const programHeaderBytes = 56

/** The executable for the architecture. */
export function pauseProgram(architecture: PauseArchitecture): Uint8Array {
  const { machine, text } = code[architecture]
  const start = elfHeaderBytes + programHeaderBytes
  const view = new DataView(new ArrayBuffer(start))
  view.setUint32(0, 0x7f454c46) // ELF magic number
  view.setUint32(4, 0x02010100) // 64 bit, little endian, version 1
  view.setUint16(16, 2, true) // executable file
  view.setUint16(18, machine, true)
  view.setUint32(20, 1, true)
  view.setBigUint64(24, BigInt(loadAddress + start), true) // entry point
  view.setBigUint64(32, BigInt(elfHeaderBytes), true) // offset of the program header
  view.setUint16(52, elfHeaderBytes, true)
  view.setUint16(54, programHeaderBytes, true)
  view.setUint16(56, 1, true) // one program header
  view.setUint32(64, 1, true) // PT_LOAD
  view.setUint32(68, 5, true) // flags: read and execute
  view.setBigUint64(80, BigInt(loadAddress), true)
  view.setBigUint64(88, BigInt(loadAddress), true)
  view.setBigUint64(96, BigInt(start + text.length), true)
  view.setBigUint64(104, BigInt(start + text.length), true)
  view.setBigUint64(112, 0x1000n, true)
  return concatBytes([new Uint8Array(view.buffer), text])
}
