// An Ibex (lowRISC) with its program and data in one memory that answers at once. A function behind a NOP at 0x400 is entered
// with the return address 0x200; `cycles` are those from the NOP's end to where what is at 0x200 begins.
module top import ibex_pkg::*; #(parameter rv32m_e M = MULTIPLIER) (
  input logic clk_i, input logic rst_ni, output logic done, output int cycles
);
  logic fetch, fetched, access, answered, write, retired;
  logic [31:0] fetch_at, code, access_at, given, answer, at;
  logic [3:0] lanes;
  logic [4:0] ra, rb, wa;
  logic we;
  logic [31:0] wd, rda, rdb;
  logic [31:0] memory [0:16383];
  int now, start;
  initial $readmemh("program.hex", memory);

  always_ff @(posedge clk_i) begin
    fetched <= fetch;
    code <= memory[fetch_at[15:2]];
    answered <= access;
    answer <= memory[access_at[15:2]];
    if (access && write)
      for (int i = 0; i < 4; i++)
        if (lanes[i]) memory[access_at[15:2]][8*i +: 8] <= given[8*i +: 8];
    now <= now + 1;
    if (retired && at == 32'h400) start <= now;
    if (retired && at == 32'h200) begin
      cycles <= now - start - 1;
      done <= 1;
    end
  end

  ibex_core #(.RV32M(M)) core (
    .clk_i, .rst_ni, .hart_id_i(0), .boot_addr_i(0), .fetch_enable_i(IbexMuBiOn),
    .instr_req_o(fetch), .instr_gnt_i(fetch), .instr_rvalid_i(fetched), .instr_addr_o(fetch_at),
    .instr_rdata_i(code), .instr_err_i(0),
    .data_req_o(access), .data_gnt_i(access), .data_rvalid_i(answered), .data_we_o(write), .data_be_o(lanes),
    .data_addr_o(access_at), .data_wdata_o(given), .data_rdata_i(answer), .data_err_i(0),
    .rf_raddr_a_o(ra), .rf_raddr_b_o(rb), .rf_waddr_wb_o(wa), .rf_we_wb_o(we), .rf_wdata_wb_ecc_o(wd),
    .rf_rdata_a_ecc_i(rda), .rf_rdata_b_ecc_i(rdb),
    .ic_scr_key_valid_i(0), .irq_software_i(0), .irq_timer_i(0), .irq_external_i(0), .irq_fast_i(0), .irq_nm_i(0),
    .debug_req_i(0), .rvfi_valid(retired), .rvfi_pc_rdata(at)
  );
  ibex_register_file_ff registers (
    .clk_i, .rst_ni, .test_en_i(0), .dummy_instr_id_i(0), .dummy_instr_wb_i(0),
    .raddr_a_i(ra), .rdata_a_o(rda), .raddr_b_i(rb), .rdata_b_o(rdb), .waddr_a_i(wa), .wdata_a_i(wd), .we_a_i(we)
  );
endmodule
